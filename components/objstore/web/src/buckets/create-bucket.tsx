import { Modal, Stack, Switch, TextInput } from "@mantine/core";
import { DialogButtons, ErrorNote, notifyDone, parseBytes, requestJson } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";

import { toBucket } from "../paths.ts";
import { send } from "../s3/send.ts";
import { useSession } from "../session.ts";
import { bucketApi } from "./use-buckets.ts";
import { setVersioning } from "./versioning.ts";

interface CreateBucketProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Asks for a name and makes the bucket, and does what else was chosen. */
export function CreateBucket({ opened, onClose }: CreateBucketProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: session } = useSession();
  const [name, setName] = useState("");
  const [hasVersions, setVersions] = useState(false);
  const [quota, setQuota] = useState("");
  const bytes = quota === "" ? null : parseBytes(quota);
  const create = useMutation({
    mutationFn: async () => {
      await send({ method: "PUT", bucket: name });
      if (hasVersions) {
        await setVersioning(name, true);
      }
      if (bytes !== null) {
        await requestJson(bucketApi(name, "/quota"), { method: "PUT", body: { bytes } });
      }
    },
    onSuccess: () => {
      notifyDone(`The bucket ${name} is made.`);
      setName("");
      onClose();
      void navigate(toBucket(name));
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["buckets"] }),
  });
  const mistake = name === "" ? undefined : findMistake(name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name !== "" && mistake === undefined && bytes !== undefined) {
      create.mutate();
    }
  };
  return (
    <Modal opened={opened} onClose={onClose} title="Create a bucket" closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit} noValidate>
        <Stack>
          {create.error && <ErrorNote error={create.error} title="The bucket was not made" />}
          <TextInput
            label="Name"
            description="3 to 63 lower-case letters, digits, hyphens and dots; it cannot be changed later."
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={mistake}
            required
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
          <Switch
            label="Versioning"
            description="What is overwritten or deleted can be brought back; it counts as used until it is deleted for good."
            checked={hasVersions}
            onChange={(event) => setVersions(event.currentTarget.checked)}
          />
          {session?.isRoot && (
            <TextInput
              label="Quota"
              description="The most that it may hold, such as 500 MiB or 20 GiB; nothing for no limit."
              value={quota}
              onChange={(event) => setQuota(event.currentTarget.value)}
              error={bytes === undefined ? "This is no amount: a number and a unit, such as 20 GiB." : undefined}
              autoComplete="off"
            />
          )}
          <DialogButtons
            label="Create"
            onCancel={onClose}
            isBusy={create.isPending}
            isReady={name !== "" && mistake === undefined}
          />
        </Stack>
      </form>
    </Modal>
  );
}

/** What is wrong with a bucket's name, by the rules of S3. */
function findMistake(name: string): string | undefined {
  if (!/^[a-z0-9.-]*$/.test(name)) {
    return "Only lower-case letters, digits, hyphens and dots.";
  }
  if (name.length < 3 || name.length > 63) {
    return "3 to 63 characters.";
  }
  if (!/^[a-z0-9].*[a-z0-9]$/.test(name) || /\.\.|\.-|-\./.test(name)) {
    return "It begins and ends with a letter or digit, and so does every part between dots.";
  }
  return undefined;
}
