import { Alert, Box, Button, Center, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { Brand, ColorSchemeSwitch } from "@swath/ui";
import { LogIn } from "lucide-react";
import { useEffect } from "react";
import { useLocation } from "react-router";

import type { PortalConfig } from "./portal.ts";
import { loginAddress } from "./session.ts";

/** For who is not logged in: what this is, and the way in. */
export function Landing({ config }: { readonly config: PortalConfig }) {
  const location = useLocation();
  const isLoggedOut = new URLSearchParams(location.search).has("logged-out");
  useEffect(() => {
    document.title = "Log in · Swath";
  }, []);
  return (
    <Center mih="100vh" p="md" component="main">
      <Box w="100%" maw={440}>
        <Paper withBorder p="xl">
          <Group gap="xs" mb="lg" justify="space-between">
            <Group gap="xs">
              <Brand />
              <Text fw={600}>Swath</Text>
            </Group>
            <ColorSchemeSwitch />
          </Group>
          <Stack>
            <Title order={1}>Earth observation, beside the data</Title>
            <Text>
              Keep scenes and results in a workspace of your own, run application packages on them, and look at what
              came of it.
            </Text>
            {isLoggedOut && (
              <Alert color="teal" role="status">
                You are logged out, here and at every service of the platform.
              </Alert>
            )}
            {config.login ? (
              <Button
                component="a"
                href={loginAddress(isLoggedOut ? { pathname: "/", search: "" } : location)}
                leftSection={<LogIn size={18} aria-hidden />}
                size="md"
              >
                Log in
              </Button>
            ) : (
              <Alert color="yellow" title="Nobody can log in">
                This deployment has no identity service. Deploy it with REQUIRE_IDENTITY_SERVICE=true, or name an
                existing one in IDENTITY_ISSUER_URL.
              </Alert>
            )}
          </Stack>
        </Paper>
      </Box>
    </Center>
  );
}
