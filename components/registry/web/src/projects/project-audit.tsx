import { projectApi } from "../api.ts";
import { AuditTable } from "../system/audit-table.tsx";
import { useThisProject } from "./use-project.ts";

/** What happened in the project. */
export function Component() {
  return <AuditTable path={projectApi(useThisProject().name, "/logs")} />;
}
