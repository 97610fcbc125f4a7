import { Badge } from "@mantine/core";

import type { Pod } from "../api/admin.ts";

/** Where a pod is in its life. */
export function PhaseBadge({ pod: { phase, ready } }: { readonly pod: Pick<Pod, "phase" | "ready"> }) {
  const isHealthy = phase === "Completed" || (phase === "Running" && ready);
  const isBad = /BackOff|Error/.test(phase);
  return (
    <Badge variant="light" color={isHealthy ? "green" : isBad ? "red" : "yellow"} style={{ flexShrink: 0 }}>
      {phase === "Running" && !ready ? "Not ready" : phase}
    </Badge>
  );
}
