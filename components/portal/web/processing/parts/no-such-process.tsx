import { FileQuestion } from "lucide-react";

import { NotFoundState } from "../../src/not-found-state.tsx";

/** Where a process was asked for that is not there. */
export function NoSuchProcess() {
  return (
    <NotFoundState
      title="There is no such process"
      icon={FileQuestion}
      to="/processing/processes"
      label="Back to processes"
    >
      It was removed, or it belongs to somebody else.
    </NotFoundState>
  );
}
