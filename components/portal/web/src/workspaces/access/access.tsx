import { Alert, Group, Paper, Stack, Switch, Tabs, Text, Title } from "@mantine/core";
import { CopyButton, Empty } from "@swath/ui";
import { KeyRound } from "lucide-react";
import { useState } from "react";

import type { Workspace } from "../../api/workspaces.ts";
import { makeSnippets } from "./snippets.ts";
import classes from "./access.module.css";

const HIDDEN = "••••••••••••••••";

/** The keys of a workspace's storage, and how programs use them. */
export function Access({ workspace: { storage, role } }: { readonly workspace: Workspace }) {
  const [isShown, setShown] = useState(false);
  if (storage === null) {
    return (
      <Empty title="No storage" icon={KeyRound}>
        This deployment makes no storage for workspaces.
      </Empty>
    );
  }
  const { credentials } = storage;
  const fields = [
    ["Endpoint", credentials.endpoint, false],
    ["Region", credentials.region, false],
    ["Bucket", credentials.bucketname, false],
    ["Access key", credentials.access, false],
    ["Secret key", credentials.secret, true],
  ] as const;
  const snippets = makeSnippets(credentials);
  const hide = (text: string) => (isShown ? text : text.replaceAll(credentials.secret, HIDDEN));
  return (
    <Stack gap="lg">
      <Paper withBorder p="lg">
        <Group justify="space-between" mb="sm">
          <Title order={2}>Keys</Title>
          <Switch
            label="Show the secret key"
            checked={isShown}
            onChange={(event) => setShown(event.currentTarget.checked)}
          />
        </Group>
        {role === "reader" && (
          <Alert color="blue" mb="sm">
            These keys read; they cannot write.
          </Alert>
        )}
        <dl className={classes.fields}>
          {fields.map(([label, value, isSecret]) => (
            <div key={label} className={classes.field}>
              <dt>{label}</dt>
              <dd>
                <Text component="span" ff="monospace" size="sm" style={{ overflowWrap: "anywhere" }}>
                  {isSecret && !isShown ? HIDDEN : value}
                </Text>
                <CopyButton value={value} label={`Copy: ${label}`} />
              </dd>
            </div>
          ))}
        </dl>
      </Paper>
      <Paper withBorder p="lg">
        <Title order={2} mb="sm">
          Use it
        </Title>
        <Tabs defaultValue={snippets[0]?.id}>
          <Tabs.List aria-label="Programs">
            {snippets.map(({ id, title }) => (
              <Tabs.Tab key={id} value={id}>
                {title}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {snippets.map(({ id, title, about, text }) => (
            <Tabs.Panel key={id} value={id} pt="sm">
              <Group justify="space-between" mb="xs" wrap="nowrap">
                <Text size="sm" c="dimmed">
                  {about}
                </Text>
                <CopyButton value={text} label={`Copy for ${title}`} labelled />
              </Group>
              {/* Long lines scroll, by keyboard too. */}
              {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to be reached */}
              <pre className={classes.code} tabIndex={0} aria-label={`Commands for ${title}`}>
                {hide(text)}
              </pre>
            </Tabs.Panel>
          ))}
        </Tabs>
      </Paper>
    </Stack>
  );
}
