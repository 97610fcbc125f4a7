import { Alert, Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { ErrorNote, notifyDone, requestJson, useConfirm } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Globe } from "lucide-react";
import { useState } from "react";

import { useThisBucket } from "../buckets/bucket-page.tsx";
import { type Bucket, bucketApi } from "../buckets/use-buckets.ts";
import { PolicyEditor } from "./policy-editor.tsx";
import { TemplateMenu } from "./template-menu.tsx";
import { TEMPLATES, isPublic } from "./templates.ts";
import { usePolicyCheck } from "./use-policy-check.ts";

/** Who may do what with a bucket besides its owner. */
export function Component() {
  const bucket = useThisBucket();
  return <PolicyForm key={JSON.stringify(bucket.policy)} bucket={bucket} />;
}

function PolicyForm({ bucket }: { readonly bucket: Bucket }) {
  const client = useQueryClient();
  const confirm = useConfirm();
  const saved = bucket.policy === null ? "" : format(bucket.policy);
  const [text, setText] = useState(saved);
  const check = usePolicyCheck(text, bucket.name);
  const refresh = () => client.invalidateQueries({ queryKey: ["buckets"] });
  const save = useMutation({
    mutationFn: (policy: object) => requestJson(bucketApi(bucket.name, "/policy"), { method: "PUT", body: policy }),
    onSuccess: async () => {
      notifyDone("The policy is in force.");
      await refresh();
    },
  });
  const remove = useMutation({
    mutationFn: () => requestJson(bucketApi(bucket.name, "/policy"), { method: "DELETE" }),
    onSuccess: async () => {
      notifyDone("The policy is taken away.");
      await refresh();
    },
  });
  const submit = async () => {
    if (check.policy === undefined) {
      return;
    }
    const becomesPublic = isPublic(check.policy) && !isPublic(bucket.policy);
    const isSure =
      !becomesPublic ||
      (await confirm({
        title: "Allow public access?",
        body: 'The policy names everybody (Principal "*"): what it allows needs no login, from anywhere that reaches this service.',
        action: "Allow public access",
        danger: true,
      }));
    if (isSure) {
      save.mutate(check.policy);
    }
  };
  const callRemove = async () => {
    const isSure = await confirm({
      title: "Remove the policy?",
      body: "Whoever had rights by this policy alone loses them at once.",
      action: "Remove policy",
      danger: true,
    });
    if (isSure) {
      remove.mutate();
    }
  };
  const error = save.error ?? remove.error;
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2}>Policy</Title>
          <TemplateMenu
            label="Begin with"
            templates={TEMPLATES}
            onChoose={({ make }) => setText(format(make(bucket.name)))}
          />
        </Group>
        <Text size="sm" c="dimmed">
          Without a policy the root user and users whose own policies name the bucket may use it. A policy lets in
          others or keeps out some; it is written like the bucket policies of S3, in JSON.
        </Text>
        {isPublic(bucket.policy) && (
          <Alert color="yellow" icon={<Globe aria-hidden />} title="Everybody">
            This bucket has a policy for everybody, logged in or not.
          </Alert>
        )}
        {error && <ErrorNote error={error} title="Not saved" />}
        <PolicyEditor label={`Policy of ${bucket.name}`} value={text} onChange={setText} check={check} />
        <Group>
          <Button
            onClick={() => void submit()}
            loading={save.isPending}
            disabled={check.state !== "valid" || text === saved}
          >
            Save
          </Button>
          <Button variant="default" onClick={() => setText(saved)} disabled={text === saved}>
            Undo changes
          </Button>
          {bucket.policy !== null && (
            <Button
              variant="outline"
              color="red"
              onClick={() => void callRemove()}
              loading={remove.isPending}
              ml="auto"
            >
              Remove policy
            </Button>
          )}
        </Group>
      </Stack>
    </Paper>
  );
}

function format(policy: object): string {
  return JSON.stringify(policy, undefined, 2);
}
