import { Alert, Group, Loader, Paper, Stack, Text, ThemeIcon } from "@mantine/core";
import { Check, TriangleAlert } from "lucide-react";

import type { Workspace } from "../api/workspaces.ts";

const TITLES: Readonly<Record<string, string>> = {
  owner: "Owner",
  bucket: "Storage and its keys",
  protection: "Protection for its members",
};

/** What has been made of a workspace so far, or what is left of one that is being deleted. */
export function Provisioning({ workspace }: { readonly workspace: Workspace }) {
  const { status, status_reason: reason, steps } = workspace;
  return (
    <Paper withBorder p="lg" maw={560} role="status">
      <Stack>
        <Group gap="sm">
          <Loader size="sm" />
          <Text fw={600}>
            {status === "deleting" ? "The workspace is being deleted" : "The workspace is being made"}
          </Text>
        </Group>
        {reason !== undefined && <Alert color="yellow">{reason}</Alert>}
        {steps.map(({ name, state, error }) => (
          <Group key={name} gap="sm" wrap="nowrap" align="flex-start">
            <StepIcon state={state} />
            <div>
              <Text size="sm">{TITLES[name] ?? name}</Text>
              {state === "failed" && error && (
                <Text size="sm" c="dimmed">
                  {error}
                </Text>
              )}
            </div>
          </Group>
        ))}
      </Stack>
    </Paper>
  );
}

function StepIcon({ state }: { readonly state: string }) {
  if (state === "failed") {
    return (
      <ThemeIcon color="yellow" variant="light" size="sm" aria-label="Failed, tried again">
        <TriangleAlert size={14} aria-hidden />
      </ThemeIcon>
    );
  }
  return state === "done" ? (
    <ThemeIcon color="green" variant="light" size="sm" aria-label="Done">
      <Check size={14} aria-hidden />
    </ThemeIcon>
  ) : (
    <ThemeIcon color="gray" variant="light" size="sm" aria-label="To do">
      <span aria-hidden>·</span>
    </ThemeIcon>
  );
}
