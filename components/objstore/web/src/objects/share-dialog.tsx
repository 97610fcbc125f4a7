import { Alert, Button, Group, Modal, Select, Stack, Text, Textarea } from "@mantine/core";
import { CopyButton, ErrorNote, formatTime, requestJson } from "@swath/ui";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

interface ShareDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly bucket: string;
  readonly objectKey: string;
  readonly version: string | undefined;
}

interface Share {
  readonly url: string;
  readonly expires: string;
}

const TIMES = [
  { value: "3600", label: "an hour" },
  { value: "86400", label: "a day" },
  { value: "604800", label: "a week" },
];

/** Makes a link by which anybody can read one object for a while. */
export function ShareDialog({ opened, onClose, bucket, objectKey: key, version }: ShareDialogProps) {
  const [seconds, setSeconds] = useState("86400");
  const share = useMutation({
    mutationFn: () =>
      requestJson<Share>("/api/share", {
        method: "POST",
        body: { bucket, key, seconds: Number(seconds), ...(version !== undefined && { versionId: version }) },
      }),
  });
  const close = () => {
    onClose();
    share.reset();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title="Share this object"
      size="lg"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack>
        {share.error && <ErrorNote error={share.error} title="The link was not made" />}
        {share.data === undefined ? (
          <>
            <Text size="sm">Whoever has the link can download this object without a login, until the link ends.</Text>
            <Select
              label="The link is good for"
              data={TIMES}
              value={seconds}
              allowDeselect={false}
              onChange={(value) => setSeconds(value ?? "86400")}
            />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button onClick={() => share.mutate()} loading={share.isPending}>
                Make the link
              </Button>
            </Group>
          </>
        ) : (
          <>
            <Textarea
              label="Link"
              value={share.data.url}
              readOnly
              autosize
              minRows={3}
              maxRows={8}
              styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: "0.8rem" } }}
              onFocus={(event) => event.currentTarget.select()}
            />
            <Alert color="teal" variant="light">
              It ends on {formatTime(new Date(share.data.expires))}, or when whoever made it loses the right to read the
              object.
            </Alert>
            <Group justify="flex-end">
              <CopyButton value={share.data.url} label="Copy the link" labelled />
              <Button onClick={close}>Done</Button>
            </Group>
          </>
        )}
      </Stack>
    </Modal>
  );
}
