import { Button } from "@mantine/core";
import { Empty } from "@swath/ui";
import { FileQuestion } from "lucide-react";
import { Link } from "react-router";

/** Where a process was asked for that is not there. */
export function NoSuchProcess() {
  return (
    <Empty
      title="There is no such process"
      icon={FileQuestion}
      action={
        <Button component={Link} to="/processing/processes" variant="default">
          To the processes
        </Button>
      }
    >
      It was removed, or it belongs to somebody else.
    </Empty>
  );
}
