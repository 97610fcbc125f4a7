import { Badge } from "@mantine/core";

import type { WorkspaceStatus } from "../api/workspaces.ts";

const COLORS: Readonly<Record<WorkspaceStatus, string>> = { ready: "green", provisioning: "blue", deleting: "orange" };
const WORDS: Readonly<Record<WorkspaceStatus, string>> = {
  ready: "Ready",
  provisioning: "Being made",
  deleting: "Being deleted",
};

/** Where a workspace is in its life. */
export function StatusBadge({ status }: { readonly status: WorkspaceStatus }) {
  return (
    <Badge variant="light" color={COLORS[status]} style={{ flexShrink: 0 }}>
      {WORDS[status]}
    </Badge>
  );
}
