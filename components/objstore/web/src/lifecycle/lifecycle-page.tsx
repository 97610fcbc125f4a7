import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { Awaited, ErrorNote, RequestError, notifyDone } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useThisBucket } from "../buckets/bucket-page.tsx";
import { type DocumentCheck, PolicyEditor } from "../policy/policy-editor.tsx";
import { parseJson } from "../policy/parse-json.ts";
import { TemplateMenu } from "../policy/template-menu.tsx";
import { send } from "../s3/send.ts";
import { parseXml } from "../s3/xml.ts";
import { LIFECYCLE_TEMPLATES } from "./lifecycle-templates.ts";
import { readLifecycle } from "./read-lifecycle.ts";
import { toLifecycleXml } from "./to-lifecycle-xml.ts";

const TEXTS = {
  empty: "Nothing is deleted by itself. Begin with one of the examples, or write rules.",
  valid: "This is JSON; what it means is checked when it is saved.",
};

/** What a bucket deletes by itself, and when. */
export function Component() {
  const { name } = useThisBucket();
  const lifecycle = useQuery({ queryKey: ["lifecycle", name], queryFn: () => fetchLifecycle(name) });
  return (
    <Awaited query={lifecycle} what="Loading the lifecycle">
      {(saved) => <LifecycleForm key={saved} bucket={name} saved={saved} />}
    </Awaited>
  );
}

function LifecycleForm({ bucket, saved }: { readonly bucket: string; readonly saved: string }) {
  const client = useQueryClient();
  const [text, setText] = useState(saved);
  const check = checkDocument(text);
  const save = useMutation({
    mutationFn: async () => {
      if (check.state === "empty") {
        await send({ method: "DELETE", bucket, query: { lifecycle: "" } });
      } else {
        const body = toLifecycleXml(JSON.parse(text) as object);
        await send({ method: "PUT", bucket, query: { lifecycle: "" } }, { body });
      }
    },
    onSuccess: async () => {
      notifyDone(check.state === "empty" ? "Nothing is deleted by itself any more." : "The rules are in force.");
      await client.invalidateQueries({ queryKey: ["lifecycle", bucket] });
    },
  });
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2}>Lifecycle</Title>
          <TemplateMenu
            label="Add a rule"
            templates={LIFECYCLE_TEMPLATES}
            onChoose={({ rule }) => setText(addRule(text, rule))}
          />
        </Group>
        <Text size="sm" c="dimmed">
          Rules say which objects are deleted by themselves, and when. They are written like the lifecycle of S3 in
          JSON, as the AWS tools take it, and looked at every hour.
        </Text>
        {save.error && <ErrorNote error={save.error} title="Not saved" />}
        <PolicyEditor label={`Lifecycle of ${bucket}`} value={text} onChange={setText} check={check} texts={TEXTS} />
        <Group>
          <Button
            onClick={() => save.mutate()}
            loading={save.isPending}
            disabled={check.state === "invalid" || text === saved}
          >
            Save
          </Button>
          <Button variant="default" onClick={() => setText(saved)} disabled={text === saved}>
            Undo changes
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}

/** The rules as text; empty when there are none. @throws {RequestError} */
async function fetchLifecycle(bucket: string): Promise<string> {
  try {
    const response = await send({ method: "GET", bucket, query: { lifecycle: "" } });
    return format(readLifecycle(parseXml(await response.text())));
  } catch (error) {
    if (error instanceof RequestError && error.status === 404) {
      return "";
    }
    throw error;
  }
}

function checkDocument(text: string): DocumentCheck {
  if (text.trim() === "") {
    return { state: "empty", mistake: undefined };
  }
  const parsed = parseJson(text);
  return "value" in parsed ? { state: "valid", mistake: undefined } : { state: "invalid", mistake: parsed.mistake };
}

/** What is written with one rule more; what cannot be read is replaced. */
function addRule(text: string, rule: object): string {
  const parsed = parseJson(text);
  const rules = "value" in parsed ? (parsed.value as { Rules?: unknown }).Rules : undefined;
  return format({ Rules: [...(Array.isArray(rules) ? (rules as unknown[]) : []), rule] });
}

function format(value: object): string {
  return JSON.stringify(value, undefined, 2);
}
