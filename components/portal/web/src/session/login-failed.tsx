import { Box, Button, Center, Paper, Stack, Text, Title } from "@mantine/core";
import { CircleAlert, LogIn } from "lucide-react";
import { useEffect } from "react";
import { useSearchParams } from "react-router";

const REASONS: Readonly<Record<string, string>> = {
  expired: "It was begun in another window or browser, or too long ago.",
  cancelled: "It was cancelled.",
  refused: "The identity service did not allow it. An administrator finds the reason in the portal's log.",
};

/** Where a login ends that came to nothing: why, and how to try again. */
export function Component() {
  const [query] = useSearchParams();
  useEffect(() => {
    document.title = "Not logged in · Swath";
  }, []);
  return (
    <Center mih="100vh" p="md" component="main">
      <Box w="100%" maw={440}>
        <Paper withBorder p="xl">
          <Stack align="center" ta="center">
            <CircleAlert size={40} strokeWidth={1.3} color="var(--swath-danger)" aria-hidden />
            <Title order={1}>The login was not completed</Title>
            <Text>{REASONS[query.get("why") ?? ""] ?? "Try it again."}</Text>
            <Button component="a" href="/auth/login" leftSection={<LogIn size={18} aria-hidden />}>
              Log in
            </Button>
          </Stack>
        </Paper>
      </Box>
    </Center>
  );
}
