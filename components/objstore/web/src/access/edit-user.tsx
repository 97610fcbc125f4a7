import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { ErrorNote, notifyDone, requestJson } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";

import { PolicyEditor } from "../policy/policy-editor.tsx";
import { usePolicyCheck } from "../policy/use-policy-check.ts";
import type { User } from "./users.ts";

interface EditUserProps {
  /** `new` makes one; nobody: the dialog is closed. */
  readonly user: User | "new" | undefined;
  readonly onClose: () => void;
}

const EXAMPLE = {
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Action: "s3:*", Resource: ["arn:aws:s3:::BUCKET", "arn:aws:s3:::BUCKET/*"] }],
};

/** A user's name and policy. */
export function EditUser({ user, onClose }: EditUserProps) {
  const client = useQueryClient();
  const existing = user === "new" ? undefined : user;
  const [name, setName] = useState(existing?.name ?? "");
  const [text, setText] = useState(JSON.stringify(existing?.policy ?? EXAMPLE, undefined, 2));
  const check = usePolicyCheck(text);
  const isName = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$/.test(name);
  const save = useMutation({
    mutationFn: () =>
      requestJson(`/api/users/${encodeURIComponent(name)}`, {
        method: "PUT",
        body: { policy: check.policy, enabled: existing?.enabled ?? true },
      }),
    onSuccess: async () => {
      notifyDone(
        existing === undefined ? `The user ${name} is made; now it needs an access key.` : "The user is changed.",
      );
      await client.invalidateQueries({ queryKey: ["users"] });
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isName && check.state === "valid") {
      save.mutate();
    }
  };
  return (
    <Modal
      opened={user !== undefined}
      onClose={onClose}
      title={existing === undefined ? "Create a user" : existing.name}
      size="lg"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={submit}>
        <Stack>
          {save.error && <ErrorNote error={save.error} title="Not saved" />}
          {existing === undefined && (
            <TextInput
              label="Name"
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              error={name !== "" && !isName ? "Letters, digits, and . _ @ - after the first." : undefined}
              required
              autoComplete="off"
              spellCheck={false}
              data-autofocus
            />
          )}
          <PolicyEditor label="Policy of the user" value={text} onChange={setText} check={check} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending} disabled={!isName || check.state !== "valid"}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
