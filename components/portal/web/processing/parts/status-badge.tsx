import { Badge } from "@mantine/core";
import { Ban, CircleCheck, CircleDashed, CircleX, LoaderCircle } from "lucide-react";

import type { JobStatus } from "../model/step-states.ts";

const LOOK = {
  accepted: { color: "gray", icon: CircleDashed, label: "Waiting" },
  running: { color: "blue", icon: LoaderCircle, label: "Running" },
  successful: { color: "green", icon: CircleCheck, label: "Successful" },
  failed: { color: "red", icon: CircleX, label: "Failed" },
  dismissed: { color: "gray", icon: Ban, label: "Cancelled" },
} as const;

export const statusLabel = (status: JobStatus): string => LOOK[status].label;

/** How a job is: by word, colour and sign. */
export function StatusBadge({ status }: { readonly status: JobStatus }) {
  const { color, icon: Icon, label } = LOOK[status];
  return (
    <Badge color={color} variant="light" leftSection={<Icon size={12} aria-hidden />} style={{ flexShrink: 0 }}>
      {label}
    </Badge>
  );
}
