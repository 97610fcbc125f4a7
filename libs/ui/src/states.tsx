import { Alert, Button, Center, List, Loader, Paper, Stack, Text, Title, VisuallyHidden } from "@mantine/core";
import { CircleAlert, type LucideIcon } from "lucide-react";
import { type ReactNode, useState } from "react";

import { RequestError } from "./problem.ts";

/** While something is fetched. */
export function Loading({ what = "Loading" }: { readonly what?: string }) {
  return (
    <Center mih={160} role="status">
      <Loader />
      <VisuallyHidden>{what} …</VisuallyHidden>
    </Center>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly icon?: LucideIcon;
  /** What would be here and how it gets here. */
  readonly children?: ReactNode;
  readonly action?: ReactNode;
  /** Beside other things on a page. */
  readonly compact?: boolean;
}

/** Where there is nothing yet: what belongs here and how to begin. */
export function Empty({ title, icon: Icon, children, action, compact = false }: EmptyProps) {
  return (
    <Paper withBorder p={compact ? "md" : "xl"}>
      <Stack align="center" gap={compact ? "xs" : "sm"} ta="center" py={compact ? 0 : "lg"}>
        {Icon && <Icon size={compact ? 28 : 40} strokeWidth={1.3} color="var(--mantine-color-dimmed)" aria-hidden />}
        <Title order={2}>{title}</Title>
        {children && (
          <Text c="dimmed" maw={480} component="div">
            {children}
          </Text>
        )}
        {action}
      </Stack>
    </Paper>
  );
}

interface ErrorNoteProps {
  readonly error: unknown;
  /** What did not work: "The bucket was not made". */
  readonly title?: string;
  readonly onRetry?: (() => void) | undefined;
}

/** What went wrong, in the words of the service that refused, with every mistake it named. */
export function ErrorNote({ error, title, onRetry }: ErrorNoteProps) {
  const problem = error instanceof RequestError ? error.problem : undefined;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      icon={<CircleAlert aria-hidden />}
      title={title ?? problem?.title ?? "Error"}
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
          {message}
        </Text>
        {problem?.errors !== undefined && problem.errors.length > 0 && (
          <List size="sm">
            {problem.errors.map(({ path, message: mistake }) => (
              <List.Item key={`${path} ${mistake}`}>
                {path && <strong>{path} </strong>}
                {mistake}
              </List.Item>
            ))}
          </List>
        )}
        {problem?.requestId !== undefined && problem.status !== undefined && problem.status >= 500 && (
          <Text size="xs" c="dimmed">
            Request {problem.requestId}: the logs of the service know more.
          </Text>
        )}
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

interface AwaitedProps<T> {
  readonly query: {
    readonly data: T | undefined;
    readonly error: unknown;
    readonly refetch: () => unknown;
    /** How often it failed so far. */
    readonly errorUpdateCount: number;
  };
  readonly what?: string;
  readonly children: (data: T) => ReactNode;
}

/** Shows a query's data; before that a sign of life, and its error with a way to try again. Old data stays beside an error. */
export function Awaited<T>({ query, what, children }: AwaitedProps<T>) {
  const { data, error, refetch, errorUpdateCount } = query;
  // While what failed is asked for again, the query has no error; the note stays all the same, instead of blinking.
  const [last, setLast] = useState<unknown>(null);
  if (error && error !== last) {
    setLast(error);
  }
  const shown = error ?? (data === undefined && errorUpdateCount > 0 ? last : null);
  const note = shown ? <ErrorNote error={shown} onRetry={() => void refetch()} /> : undefined;
  if (data === undefined) {
    return note ?? <Loading {...(what !== undefined && { what })} />;
  }
  return (
    <>
      {note}
      {children(data)}
    </>
  );
}
