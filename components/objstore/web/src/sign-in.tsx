import { Box, Button, Center, Group, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { Brand, ErrorNote, requestJson } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect } from "react";
import { Navigate, useSearchParams } from "react-router";

import { type Session, useSession } from "./session.ts";

/** Sign in with an access key: the root user's, or that of a service account. */
export function SignIn() {
  const client = useQueryClient();
  const session = useSession();
  const [search] = useSearchParams();
  const signIn = useMutation({
    mutationFn: (keys: { accessKey: string; secretKey: string }) =>
      requestJson<Session>("/api/session", { method: "POST", body: keys }),
    onSuccess: (made) => client.setQueryData(["session"], made),
  });
  useEffect(() => {
    document.title = "Sign in · Object storage · Swath";
  }, []);
  if (session.data) {
    return <Navigate to={toOwnPath(search.get("to"))} replace />;
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const read = (name: string) => form.get(name) as string;
    signIn.mutate({ accessKey: read("accessKey"), secretKey: read("secretKey") });
  };
  return (
    <Center mih="100vh" p="md" component="main">
      <Box w="100%" maw={400}>
        <Paper withBorder p="xl">
          <Group gap="xs" mb="lg">
            <Brand />
            <Text fw={600}>Swath</Text>
            <Text c="dimmed">Object storage</Text>
          </Group>
          <Title order={1} mb="md">
            Sign in
          </Title>
          <form onSubmit={submit}>
            <Stack>
              {signIn.error && <ErrorNote error={signIn.error} title="Not signed in" />}
              <TextInput label="Access key" name="accessKey" autoComplete="username" spellCheck={false} required />
              <PasswordInput label="Secret key" name="secretKey" autoComplete="current-password" required />
              <Button type="submit" loading={signIn.isPending}>
                Sign in
              </Button>
            </Stack>
          </form>
        </Paper>
      </Box>
    </Center>
  );
}

/** Where to go afterwards; only addresses of this console. */
function toOwnPath(to: string | null): string {
  return to !== null && /^\/(?![/\\])/.test(to) ? to : "/";
}
