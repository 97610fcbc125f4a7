import { Modal, Stack, TextInput } from "@mantine/core";
import { DialogButtons, ErrorNote } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";

import { toFolder } from "../paths.ts";
import { send } from "../s3/send.ts";

interface CreateFolderProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Makes a folder: an empty object whose name ends with a slash, as other S3 programs do. */
export function CreateFolder({ bucket, prefix, opened, onClose }: CreateFolderProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const isName = name.trim() !== "" && !name.includes("/") && !/^\.{1,2}$/.test(name);
  const create = useMutation({
    mutationFn: () => send({ method: "PUT", bucket, key: `${prefix}${name}/` }, { body: "" }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["objects", bucket] });
      onClose();
      setName("");
      await navigate(toFolder(bucket, `${prefix}${name}/`));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isName) {
      create.mutate();
    }
  };
  return (
    <Modal opened={opened} onClose={onClose} title="New folder" closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit}>
        <Stack>
          {create.error && <ErrorNote error={create.error} title="The folder was not made" />}
          <TextInput
            label="Name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={name !== "" && !isName ? "A name without slashes, other than . and .." : undefined}
            autoComplete="off"
            data-autofocus
          />
          <DialogButtons label="Create" onCancel={onClose} isBusy={create.isPending} isReady={isName} />
        </Stack>
      </form>
    </Modal>
  );
}
