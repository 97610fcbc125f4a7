import { Box, Center, Paper, Stack, Text, Title } from "@mantine/core";
import { CircleCheck } from "lucide-react";
import { useEffect } from "react";

import { tellWindows } from "./windows.ts";

/** Where a login ends that another window needed: that one goes on, this one is not needed any more. */
export function Component() {
  useEffect(() => {
    document.title = "Logged in · Swath";
    tellWindows("logged-in");
    // Browsers let a page close only some windows; where this one is not, the page says what to do.
    window.close();
  }, []);
  return (
    <Center mih="100vh" p="md" component="main">
      <Box w="100%" maw={440}>
        <Paper withBorder p="xl">
          <Stack align="center" ta="center">
            <CircleCheck size={40} strokeWidth={1.3} color="var(--swath-good)" aria-hidden />
            <Title order={1}>You are logged in</Title>
            <Text>Close this window and go on where you were: everything there is as you left it.</Text>
          </Stack>
        </Paper>
      </Box>
    </Center>
  );
}
