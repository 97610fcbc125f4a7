import { Box, Button, Group } from "@mantine/core";
import { useEffect } from "react";
import { isRouteErrorResponse, useRouteError } from "react-router";

import { ErrorNote } from "./states.tsx";

/** Milliseconds between two attempts to load the page again by itself; more often would be a loop. */
const RELOAD_PAUSE_MS = 60_000;
const RELOAD_KEY = "swath-reloaded-at";

/** Where a page itself broke. Usually it was replaced by a newer version while this window was open: it is loaded again. */
export function RouteError() {
  const error = useRouteError();
  const isNotFound = isRouteErrorResponse(error) && error.status === 404;
  const isOld = error instanceof Error && /dynamically imported module|module script|preload CSS/i.test(error.message);
  useEffect(() => {
    if (isOld) {
      reloadOnce();
      window.addEventListener("online", reloadOnce);
    }
    return () => window.removeEventListener("online", reloadOnce);
  }, [isOld]);
  const text = isNotFound
    ? "There is no page at this address."
    : isOld
      ? "A part of this page could not be loaded: the service was updated while the page was open, or the network is down."
      : error;
  return (
    <Box p="xl" maw={640} mx="auto">
      <ErrorNote error={text} title={isNotFound ? "Not found" : "This page cannot be shown"} />
      <Group mt="md">
        <Button onClick={() => window.location.reload()}>Load the page again</Button>
        <Button component="a" href="/" variant="default">
          Home
        </Button>
      </Group>
    </Box>
  );
}

/** Loads the new version, unless that was just done and did not help. */
function reloadOnce(): void {
  const last = Number(sessionStorage.getItem(RELOAD_KEY) ?? 0);
  if (navigator.onLine && Date.now() - last > RELOAD_PAUSE_MS) {
    sessionStorage.setItem(RELOAD_KEY, String(Date.now()));
    window.location.reload();
  }
}
