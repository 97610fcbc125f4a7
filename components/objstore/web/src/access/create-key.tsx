import { Alert, Button, Group, Modal, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import { DialogButtons, ErrorNote, SecretField, requestJson } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { type FormEvent, useState } from "react";

import { PolicyEditor } from "../policy/policy-editor.tsx";
import { usePolicyCheck } from "../policy/use-policy-check.ts";
import { useSession } from "../session.ts";
import type { User } from "./users.ts";

interface CreateKeyProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

interface MadeKey {
  readonly accessKey: string;
  readonly secretKey: string;
}

const ENDS = [
  { value: "", label: "never" },
  { value: "30", label: "in 30 days" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in a year" },
];
const DAY = 86_400_000;

/** Makes an access key and shows its secret, this once. */
export function CreateKey({ opened, onClose }: CreateKeyProps) {
  const client = useQueryClient();
  const { data: session } = useSession();
  const [title, setTitle] = useState("");
  const [user, setUser] = useState<string | null>(null);
  const [days, setDays] = useState("");
  const [isNarrowed, setNarrowed] = useState(false);
  const [policy, setPolicy] = useState("");
  const check = usePolicyCheck(isNarrowed ? policy : "");
  const users = useQuery({
    queryKey: ["users"],
    queryFn: async () => (await requestJson<{ users: User[] }>("/api/users")).users,
    enabled: opened && session?.isRoot === true,
  });
  const create = useMutation({
    mutationFn: () =>
      requestJson<MadeKey>("/api/access-keys", {
        method: "POST",
        body: {
          title,
          ...(user !== null && { user }),
          ...(days !== "" && { expiresAt: new Date(Date.now() + Number(days) * DAY).toISOString() }),
          ...(isNarrowed && { policy: check.policy }),
        },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["access-keys"] }),
  });
  const isReady = !isNarrowed || check.state === "valid";
  const close = () => {
    onClose();
    create.reset();
    setTitle("");
    setPolicy("");
    setNarrowed(false);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) {
      create.mutate();
    }
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title="Create an access key"
      size="lg"
      closeButtonProps={{ "aria-label": "Close" }}
      closeOnClickOutside={create.data === undefined}
    >
      {create.data === undefined ? (
        <form onSubmit={submit}>
          <Stack>
            {create.error && <ErrorNote error={create.error} title="The key was not made" />}
            <TextInput
              label="Title"
              description="What it is for, so that it can be deleted when that is over."
              value={title}
              onChange={(event) => setTitle(event.currentTarget.value)}
              maxLength={200}
              autoComplete="off"
              data-autofocus
            />
            {session?.isRoot && (
              <Select
                label="User"
                description="User whose permissions the key has. Default: root user."
                data={(users.data ?? []).map(({ name }) => name)}
                value={user}
                onChange={setUser}
                clearable
                searchable
              />
            )}
            <Select
              label="Ends"
              data={ENDS}
              value={days}
              allowDeselect={false}
              onChange={(value) => setDays(value ?? "")}
            />
            <Switch
              label="Restrict beyond user policy"
              description="Session policy: a request must be allowed by it as well."
              checked={isNarrowed}
              onChange={(event) => {
                setNarrowed(event.currentTarget.checked);
                setPolicy((known) => (known === "" ? EXAMPLE : known));
              }}
            />
            {isNarrowed && <PolicyEditor label="Policy of the key" value={policy} onChange={setPolicy} check={check} />}
            <DialogButtons label="Create" onCancel={close} isBusy={create.isPending} isReady={isReady} />
          </Stack>
        </form>
      ) : (
        <Stack>
          <Alert color="yellow" icon={<TriangleAlert aria-hidden />} title="The secret is shown only now">
            Put it where you keep passwords. Who has it may do what the key may.
          </Alert>
          <SecretField label="Access key" value={create.data.accessKey} />
          <SecretField label="Secret key" value={create.data.secretKey} />
          <Text size="sm" c="dimmed">
            S3 endpoint {session?.endpoint}, region {session?.region}.
          </Text>
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

const EXAMPLE = JSON.stringify(
  {
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Action: ["s3:GetObject", "s3:ListBucket"],
        Resource: ["arn:aws:s3:::BUCKET", "arn:aws:s3:::BUCKET/*"],
      },
    ],
  },
  undefined,
  2,
);
