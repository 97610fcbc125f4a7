import { Alert, Button, Group, Paper, Stack, Text } from "@mantine/core";
import { ErrorNote, Page, RelativeTime, SecretField, notifyDone, useConfirm } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";

import { change } from "../api.ts";
import { useSession } from "../session.ts";

/** The secret that docker, podman, helm and others log in with: good until it is revoked, whatever becomes of the login. */
export function Component() {
  const client = useQueryClient();
  const confirm = useConfirm();
  const { data: session } = useSession();
  const refresh = () => client.invalidateQueries({ queryKey: ["session"] });
  const create = useMutation({
    mutationFn: () => change<{ username: string; secret: string }>("POST", "/users/current/cli_secret"),
    onSuccess: refresh,
  });
  const revoke = useMutation({
    mutationFn: () => change("DELETE", "/users/current/cli_secret"),
    onSuccess: async () => {
      create.reset();
      notifyDone("The secret is revoked.");
      await refresh();
    },
  });
  const has = session?.secretCreated ?? null;
  const make = async () => {
    const isSure =
      has === null ||
      (await confirm({
        title: "Replace the secret",
        body: "Programs that log in with the old one stop working.",
        action: "Replace it",
        danger: true,
      }));
    if (isSure) {
      create.mutate();
    }
  };
  return (
    <Page title="Command lines" about="How docker, podman, skopeo, oras, helm and Kubernetes log in as you.">
      <Paper withBorder p="md">
        <Stack>
          {session?.canHaveSecret === true ? (
            <>
              <Text size="sm">
                {has === null ? (
                  "You have no secret yet."
                ) : (
                  <>
                    Your secret was made <RelativeTime time={has} />. It is good until you revoke or replace it.
                  </>
                )}
              </Text>
              {(create.error ?? revoke.error) && <ErrorNote error={create.error ?? revoke.error} title="Not changed" />}
              {create.data && (
                <>
                  <Alert color="yellow" icon={<TriangleAlert aria-hidden />} title="The secret is shown only now">
                    Put it where you keep passwords. Who has it may do what you may.
                  </Alert>
                  <SecretField label="User" value={create.data.username} />
                  <SecretField label="Secret" value={create.data.secret} />
                  <SecretField label="Command" value={`podman login ${session.host} -u ${create.data.username}`} />
                </>
              )}
              <Group>
                <Button onClick={() => void make()} loading={create.isPending}>
                  {has === null ? "Create a secret" : "Replace the secret"}
                </Button>
                {has !== null && (
                  <Button color="red" variant="outline" onClick={() => revoke.mutate()} loading={revoke.isPending}>
                    Revoke it
                  </Button>
                )}
              </Group>
            </>
          ) : (
            <>
              <Text size="sm">
                You are logged in with the administrator&rsquo;s password, which works on command lines too.
              </Text>
              <SecretField label="Command" value={`podman login ${session?.host ?? ""} -u ${session?.user ?? ""}`} />
            </>
          )}
        </Stack>
      </Paper>
    </Page>
  );
}
