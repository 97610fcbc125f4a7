import { Badge, Group, Text } from "@mantine/core";
import { formatCount } from "@swath/ui";

import type { RegistrationTask } from "../../api/registration.ts";

const COLORS: Readonly<Record<RegistrationTask["state"], string>> = {
  queued: "gray",
  running: "blue",
  done: "green",
  failed: "red",
  superseded: "gray",
  cancelled: "gray",
};

/** State and counts of a task. */
export function TaskState({ task: { state, result } }: { readonly task: RegistrationTask }) {
  const counts = (["registered", "unchanged", "removed", "failed"] as const)
    .filter((name) => (result?.[name] ?? 0) > 0)
    .map((name) => `${formatCount(result?.[name] ?? 0)} ${name}`);
  return (
    <Group gap="xs" wrap="nowrap">
      <Badge variant="light" color={COLORS[state]} style={{ flexShrink: 0 }}>
        {state}
      </Badge>
      <Text size="sm" truncate>
        {counts.join(", ")}
      </Text>
    </Group>
  );
}

/** What a task is about. */
export function describeTask({ request }: RegistrationTask): string {
  const { url, harvester, identifier, document } = request;
  const id = (document as { id?: unknown } | undefined)?.id;
  return [harvester, url, identifier, id].find((value): value is string => typeof value === "string") ?? "";
}

/** Milliseconds between looks at tasks: often while one is at work. */
export const lookAgain = (tasks: readonly (RegistrationTask | null)[] | undefined): number =>
  tasks?.some((task) => task?.state === "running" || task?.state === "queued") === true ? 1000 : 10_000;
