import { EditDialog, notifyDone, requestJson } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { PolicyEditor } from "../policy/policy-editor.tsx";
import { usePolicyCheck } from "../policy/use-policy-check.ts";
import { NameInput } from "./name-input.tsx";
import { type User, isName, userApi } from "./users.ts";

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
  const save = useMutation({
    mutationFn: () =>
      requestJson(userApi(name), {
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
  return (
    <EditDialog
      opened={user !== undefined}
      onClose={onClose}
      title={existing === undefined ? "Create a user" : existing.name}
      save={save}
      isReady={isName(name) && check.state === "valid"}
    >
      {existing === undefined && <NameInput value={name} onChange={setName} />}
      <PolicyEditor label="Policy of the user" value={text} onChange={setText} check={check} />
    </EditDialog>
  );
}
