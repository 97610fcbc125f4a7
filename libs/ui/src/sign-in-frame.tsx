import { Alert, Box, Button, Center, Divider, Group, Paper, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

import { Brand } from "./brand.tsx";

interface SignInFrameProps {
  /** What this console is of: "Object storage". */
  readonly title: string;
  /** Why a login was not completed, in words. */
  readonly failed?: string | undefined;
  /** Address of the platform's login, where there is one. */
  readonly platform?: string | undefined;
  /** What can be done instead: "or with an access key". */
  readonly or: string;
  /** The form. */
  readonly children: ReactNode;
}

/** The page where people log in to a console. */
export function SignInFrame({ title, failed, platform, or, children }: SignInFrameProps) {
  useEffect(() => {
    document.title = `Log in · ${title} · Swath`;
  }, [title]);
  return (
    <Center mih="100vh" p="md" component="main">
      <Box w="100%" maw={400}>
        <Paper withBorder p="xl">
          <Group gap="xs" mb="lg">
            <Brand />
            <Text fw={600}>Swath</Text>
            <Text c="dimmed">{title}</Text>
          </Group>
          <Title order={1} mb="md">
            Log in
          </Title>
          {failed !== undefined && (
            <Alert color="red" mb="md" role="alert" title="Not logged in">
              {failed}
            </Alert>
          )}
          {platform !== undefined && (
            <>
              <Button component="a" href={platform} fullWidth>
                Log in with the platform
              </Button>
              <Divider label={or} my="md" />
            </>
          )}
          {children}
        </Paper>
      </Box>
    </Center>
  );
}

/** Where to go after logging in; only addresses of the console itself. */
export function toOwnPath(to: string | null): string {
  return to !== null && /^\/(?![/\\])/.test(to) ? to : "/";
}
