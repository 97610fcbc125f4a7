import { Button } from "@mantine/core";
import { Empty, Page } from "@swath/ui";
import { Compass } from "lucide-react";
import { Link } from "react-router";

/** An address that leads nowhere. */
export function NotFound() {
  return (
    <Page title="Not found">
      <Empty
        title="There is no such page"
        icon={Compass}
        action={
          <Button component={Link} to="/">
            Home
          </Button>
        }
      >
        The address may be mistyped, or what it showed is gone.
      </Empty>
    </Page>
  );
}
