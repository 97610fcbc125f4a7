import { Modal, Select, Stack, Switch, TextInput } from "@mantine/core";
import { DialogButtons, ErrorNote, notifyDone, parseBytes } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";

import { change, read } from "../api.ts";
import { toProject } from "../paths.ts";
import type { OtherRegistry } from "../types.ts";

interface CreateProjectProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

const NAME = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;

/** Asks for a name and makes the project. */
export function CreateProject({ opened, onClose }: CreateProjectProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [isPublic, setPublic] = useState(false);
  const [quota, setQuota] = useState("");
  const [registry, setRegistry] = useState<string | null>(null);
  const others = useQuery({
    queryKey: ["registries"],
    queryFn: () => read<readonly OtherRegistry[]>("/registries"),
    enabled: opened,
  });
  const bytes = quota.trim() === "" ? -1 : parseBytes(quota);
  const create = useMutation({
    mutationFn: () =>
      change("POST", "/projects", {
        project_name: name,
        metadata: { public: String(isPublic) },
        storage_limit: bytes,
        ...(registry !== null && { registry_id: Number(registry) }),
      }),
    onSuccess: () => {
      notifyDone(`The project ${name} is made.`);
      onClose();
      void navigate(toProject(name));
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["projects"] }),
  });
  const isName = NAME.test(name) && name.length <= 128;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isName && bytes !== undefined) {
      create.mutate();
    }
  };
  return (
    <Modal opened={opened} onClose={onClose} title="Create a project" closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit} noValidate>
        <Stack>
          {create.error && <ErrorNote error={create.error} title="The project was not made" />}
          <TextInput
            label="Name"
            description="Names of images begin with it; it cannot be changed later."
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={name === "" || isName ? undefined : "Lower-case letters and digits, with single . _ - between them."}
            required
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
          <Switch
            label="Public"
            description="Everybody may pull, without a login."
            checked={isPublic}
            onChange={(event) => setPublic(event.currentTarget.checked)}
          />
          <TextInput
            label="Quota"
            description="The most that it may hold, such as 500 MiB or 20 GiB; nothing for no limit."
            value={quota}
            onChange={(event) => setQuota(event.currentTarget.value)}
            error={bytes === undefined ? "This is no amount: a number and a unit, such as 20 GiB." : undefined}
            autoComplete="off"
          />
          {others.data !== undefined && others.data.length > 0 && (
            <Select
              label="Cache of"
              description="What is pulled and not there comes from that registry; nobody pushes."
              placeholder="No other registry"
              data={others.data.map(({ id, name: label }) => ({ value: String(id), label }))}
              value={registry}
              onChange={setRegistry}
              clearable
            />
          )}
          <DialogButtons
            label="Create"
            onCancel={onClose}
            isBusy={create.isPending}
            isReady={isName && bytes !== undefined}
          />
        </Stack>
      </form>
    </Modal>
  );
}
