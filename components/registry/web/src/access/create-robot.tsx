import { Alert, Button, Checkbox, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { DialogButtons, ErrorNote, SecretField } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { type FormEvent, useState } from "react";

import { change } from "../api.ts";

interface CreateRobotProps {
  /** Left out for one of the whole registry. */
  readonly project?: string;
  readonly onClose: () => void;
}

const ENDS = [
  { value: "-1", label: "never" },
  { value: "30", label: "in 30 days" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in a year" },
];
const NAME = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/;

/** Makes a robot and shows its secret, this once. */
export function CreateRobot({ project, onClose }: CreateRobotProps) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const [actions, setActions] = useState<string[]>(["pull"]);
  const create = useMutation({
    mutationFn: () =>
      change<{ name: string; secret: string }>("POST", "/robots", {
        name,
        level: project === undefined ? "system" : "project",
        duration: Number(days),
        permissions: [
          {
            kind: "project",
            namespace: project ?? "*",
            access: actions.map((action) => ({ resource: "repository", action })),
          },
        ],
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["robots"] }),
  });
  const isReady = NAME.test(name) && actions.length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) {
      create.mutate();
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title="Create a robot"
      closeButtonProps={{ "aria-label": "Close" }}
      closeOnClickOutside={create.data === undefined}
    >
      {create.data === undefined ? (
        <form onSubmit={submit} noValidate>
          <Stack>
            {create.error && <ErrorNote error={create.error} title="The robot was not made" />}
            <TextInput
              label="Name"
              description={`It logs in as robot$${project === undefined ? "" : `${project}+`}${name || "name"}.`}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              error={
                name === "" || NAME.test(name)
                  ? undefined
                  : "Lower-case letters and digits, with single . _ - between them."
              }
              autoComplete="off"
              spellCheck={false}
              required
              data-autofocus
            />
            <Checkbox.Group
              label="It may"
              description={project === undefined ? "In every project of the registry." : undefined}
              value={actions}
              onChange={setActions}
            >
              <Group mt="xs">
                {["pull", "push", "delete"].map((action) => (
                  <Checkbox key={action} value={action} label={action} />
                ))}
              </Group>
            </Checkbox.Group>
            <Select
              label="Ends"
              data={ENDS}
              value={days}
              allowDeselect={false}
              onChange={(value) => setDays(value ?? "90")}
            />
            <DialogButtons label="Create" onCancel={onClose} isBusy={create.isPending} isReady={isReady} />
          </Stack>
        </form>
      ) : (
        <Stack>
          <Alert color="yellow" icon={<TriangleAlert aria-hidden />} title="The secret is shown only now">
            Put it where you keep passwords. Who has it may do what the robot may.
          </Alert>
          <SecretField label="User" value={create.data.name} />
          <SecretField label="Secret" value={create.data.secret} />
          <Group justify="flex-end">
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
