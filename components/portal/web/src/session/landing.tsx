import { Alert, Box, Button, Center, Group, Paper, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { Brand, ColorSchemeSwitch } from "@swath/ui";
import { Cpu, FolderOpen, LogIn, Map } from "lucide-react";
import { useEffect } from "react";
import { useLocation } from "react-router";

import type { PortalConfig } from "./portal.ts";
import { loginAddress } from "./session.ts";

interface LandingProps {
  readonly config: PortalConfig;
  /** Somebody has just logged out, in another window. */
  readonly isLoggedOut: boolean;
}

const PARTS = [
  { icon: FolderOpen, text: "Keep scenes and results in a workspace of your own" },
  { icon: Cpu, text: "Run application packages on them, next to the data" },
  { icon: Map, text: "See what came of it on a map, and take it with you" },
] as const;

/** For who is not logged in: what this is, and the way in, which leads back to the page that was asked for. */
export function Landing({ config, isLoggedOut }: LandingProps) {
  const location = useLocation();
  const hasLeft = new URLSearchParams(location.search).has("logged-out");
  const isDeep = !hasLeft && location.pathname !== "/";
  useEffect(() => {
    document.title = "Log in · Swath";
  }, []);
  return (
    <Center mih="100vh" p="md" component="main">
      <Box w="100%" maw={480}>
        <Paper withBorder p={{ base: "lg", xs: "xl" }}>
          <Group gap="xs" mb="lg" justify="space-between">
            <Group gap="xs">
              <Brand />
              <Text fw={600}>Swath</Text>
              {config.platform !== "swath" && <Text c="dimmed">{config.platform}</Text>}
            </Group>
            <ColorSchemeSwitch />
          </Group>
          <Stack gap="lg">
            <Title order={1}>Earth observation, next to the data</Title>
            <Stack gap="sm" component="ul" p={0} m={0}>
              {PARTS.map(({ icon: Icon, text }) => (
                <Group key={text} component="li" gap="md" wrap="nowrap">
                  <ThemeIcon variant="light" size="lg">
                    <Icon size={18} aria-hidden />
                  </ThemeIcon>
                  <span>{text}</span>
                </Group>
              ))}
            </Stack>
            {(hasLeft || isLoggedOut) && (
              <Alert color="teal" role="status">
                You are logged out, here and at every service of the platform.
              </Alert>
            )}
            {config.login ? (
              <Stack gap="xs">
                <Button
                  component="a"
                  href={loginAddress(hasLeft ? { pathname: "/", search: "" } : location)}
                  leftSection={<LogIn size={18} aria-hidden />}
                  size="md"
                >
                  Log in
                </Button>
                {isDeep && (
                  <Text size="sm" c="dimmed" ta="center" style={{ overflowWrap: "anywhere" }}>
                    After that: {location.pathname}
                  </Text>
                )}
              </Stack>
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
