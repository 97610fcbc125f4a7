import { Box, Button, Group } from "@mantine/core";
import { isRouteErrorResponse, useRouteError } from "react-router";

import { ErrorNote } from "./states.tsx";

/** Where a page itself broke. Usually it was replaced by a newer version while this window was open. */
export function RouteError() {
  const error = useRouteError();
  const isNotFound = isRouteErrorResponse(error) && error.status === 404;
  const isOld = error instanceof Error && /dynamically imported module|module script|preload CSS/i.test(error.message);
  const text = isNotFound
    ? "There is no page at this address."
    : isOld
      ? "A part of this page could not be loaded: the service was updated while the page was open, or the network is down."
      : error;
  return (
    <Box component="main" p="xl" maw={640} mx="auto">
      <ErrorNote error={text} title={isNotFound ? "Not found" : "This page cannot be shown"} />
      <Group mt="md">
        <Button onClick={() => window.location.reload()}>Load the page again</Button>
        <Button component="a" href="/" variant="default">
          To the start page
        </Button>
      </Group>
    </Box>
  );
}
