import { FileQuestion } from "lucide-react";

import { NothingThere } from "../../src/nothing-there.tsx";

/** Where a process was asked for that is not there. */
export function NoSuchProcess() {
  return (
    <NothingThere
      title="There is no such process"
      icon={FileQuestion}
      to="/processing/processes"
      label="Back to processes"
    >
      It was removed, or it belongs to somebody else.
    </NothingThere>
  );
}
