import { Button, Text } from "@mantine/core";
import { CircleAlert, LogIn } from "lucide-react";
import { useSearchParams } from "react-router";

import { StandaloneCard } from "./standalone-card.tsx";

const REASONS: Readonly<Record<string, string>> = {
  expired: "It was begun in another window or browser, or too long ago.",
  cancelled: "It was cancelled.",
  unavailable: "The identity service does not answer. Try again in a moment.",
  refused: "The identity service did not allow it. An administrator finds the reason in the portal's log.",
};

/** Where a login ends that came to nothing: why, and how to try again. */
export function Component() {
  const [query] = useSearchParams();
  return (
    <StandaloneCard
      name="Not logged in"
      icon={CircleAlert}
      colour="var(--swath-danger)"
      title="The login was not completed"
    >
      <Text>{REASONS[query.get("why") ?? ""] ?? "Try it again."}</Text>
      <Button component="a" href="/auth/login" leftSection={<LogIn size={18} aria-hidden />}>
        Log in
      </Button>
    </StandaloneCard>
  );
}
