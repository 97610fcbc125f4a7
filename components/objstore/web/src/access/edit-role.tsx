import { Stack, TextInput, Textarea } from "@mantine/core";
import { EditDialog, notifyDone, requestJson } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { PolicyEditor } from "../policy/policy-editor.tsx";
import { usePolicyCheck } from "../policy/use-policy-check.ts";
import { NameInput } from "./name-input.tsx";
import { type Role, isName, roleApi } from "./users.ts";

interface EditRoleProps {
  /** `new` makes one; none: the dialog is closed. */
  readonly role: Role | "new" | undefined;
  readonly onClose: () => void;
}

const EXAMPLE = {
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Action: ["s3:ListBucket", "s3:GetObject"], Resource: "arn:aws:s3:::BUCKET*" }],
};

/** Whom a role is for and what it allows. */
export function EditRole({ role, onClose }: EditRoleProps) {
  const client = useQueryClient();
  const existing = role === "new" ? undefined : role;
  const [name, setName] = useState(existing?.name ?? "");
  const [claim, setClaim] = useState(existing === undefined ? "preferred_username" : (existing.claim ?? ""));
  const [list, setList] = useState((existing?.values ?? []).join("\n"));
  const [text, setText] = useState(JSON.stringify(existing?.policy ?? EXAMPLE, undefined, 2));
  const check = usePolicyCheck(text);
  const values = list.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  const isForSome = claim.trim() !== "";
  const isReady = isName(name) && check.state === "valid" && (!isForSome || values.length > 0);
  const save = useMutation({
    mutationFn: () =>
      requestJson(roleApi(name), {
        method: "PUT",
        body: { policy: check.policy, ...(isForSome && { claim: claim.trim(), values }) },
      }),
    onSuccess: async () => {
      notifyDone(existing === undefined ? `The role ${name} is made.` : "The role is changed.");
      await client.invalidateQueries({ queryKey: ["roles"] });
      onClose();
    },
  });
  return (
    <EditDialog
      opened={role !== undefined}
      onClose={onClose}
      title={existing === undefined ? "Create a role" : existing.name}
      save={save}
      isReady={isReady}
    >
      {existing === undefined && <NameInput value={name} onChange={setName} />}
      <Stack gap="xs">
        <TextInput
          label="Claim"
          description="Of the platform's token, dots go deeper: preferred_username, realm_access.roles. Nothing: the role is for everybody."
          value={claim}
          onChange={(event) => setClaim(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
        {isForSome && (
          <Textarea
            label="Values"
            description="One a line; the claim must be or hold one of them."
            value={list}
            onChange={(event) => setList(event.currentTarget.value)}
            autosize
            minRows={2}
            maxRows={8}
            spellCheck={false}
          />
        )}
      </Stack>
      <PolicyEditor label="Policy of the role" value={text} onChange={setText} check={check} />
    </EditDialog>
  );
}
