import { Page } from "@swath/ui";

import { AuditTable } from "./audit-table.tsx";

/** What happened in the whole registry. */
export function Component() {
  return (
    <Page title="Audit log">
      <AuditTable path="/audit-logs" />
    </Page>
  );
}
