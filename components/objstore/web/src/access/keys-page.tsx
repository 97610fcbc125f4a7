import { ActionIcon, Badge, Button, Switch, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import {
  Awaited,
  type Column,
  DataTable,
  Empty,
  Page,
  RelativeTime,
  notifyFailed,
  requestJson,
  useConfirm,
} from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus, Trash2 } from "lucide-react";
import { useMemo } from "react";

import { useSession } from "../session.ts";
import { CreateKey } from "./create-key.tsx";

/** A key as the administration API gives it; the secret is told only when it is made. */
interface AccessKey {
  readonly accessKey: string;
  readonly user: string;
  readonly title: string;
  readonly created: string;
  readonly enabled: boolean;
  readonly expires: string | null;
  readonly policy: object | null;
}

/** The keys that programs sign in with: one's own, or all of them for the root user. */
export function Component() {
  const client = useQueryClient();
  const confirm = useConfirm();
  const { data: session } = useSession();
  const [isMaking, { open, close }] = useDisclosure(false);
  const keys = useQuery({
    queryKey: ["access-keys"],
    queryFn: async () => (await requestJson<{ accessKeys: AccessKey[] }>("/api/access-keys")).accessKeys,
  });
  const onSettled = () => client.invalidateQueries({ queryKey: ["access-keys"] });
  const { mutate: enable } = useMutation({
    mutationFn: ({ accessKey, enabled }: AccessKey) =>
      requestJson(`/api/access-keys/${accessKey}`, { method: "PATCH", body: { enabled: !enabled } }),
    onError: (error) => notifyFailed("The key was not changed", error),
    onSettled,
  });
  const { mutate: remove } = useMutation({
    mutationFn: ({ accessKey }: AccessKey) => requestJson(`/api/access-keys/${accessKey}`, { method: "DELETE" }),
    onError: (error) => notifyFailed("The key was not deleted", error),
    onSettled,
  });
  const columns = useMemo((): readonly Column<AccessKey>[] => {
    const askRemove = async (key: AccessKey) => {
      const isSure = await confirm({
        title: `Delete the key ${key.accessKey}?`,
        body: `Programs that sign in with it stop working at once${key.title === "" ? "" : ` (${key.title})`}. Links that were shared with it end.`,
        action: "Delete the key",
        danger: true,
      });
      if (isSure) {
        remove(key);
      }
    };
    return [
      {
        key: "id",
        header: "Access key",
        render: ({ accessKey }) => <code>{accessKey}</code>,
        sortBy: ({ accessKey }) => accessKey,
      },
      { key: "title", header: "Title", hideBelow: "sm", render: ({ title }) => title, sortBy: ({ title }) => title },
      {
        key: "user",
        header: "User",
        width: "10rem",
        hideBelow: "md",
        render: ({ user }) => user,
        sortBy: ({ user }) => user,
      },
      {
        key: "marks",
        header: "Rights",
        width: "8rem",
        hideBelow: "md",
        render: ({ policy }) => policy !== null && <Badge variant="light">narrowed</Badge>,
      },
      {
        key: "expires",
        header: "Ends",
        width: "8rem",
        hideBelow: "sm",
        render: ({ expires }) => (expires === null ? "never" : <RelativeTime time={expires} />),
        sortBy: ({ expires }) => expires ?? "9999",
      },
      {
        key: "enabled",
        header: "On",
        width: "4rem",
        render: (key) => (
          <Switch
            size="sm"
            checked={key.enabled}
            aria-label={`${key.accessKey} may be used`}
            onChange={() => enable(key)}
          />
        ),
      },
      {
        key: "actions",
        header: "Actions",
        hideHeader: true,
        width: "3.5rem",
        align: "end",
        render: (key) => (
          <Tooltip label="Delete">
            <ActionIcon
              variant="subtle"
              color="red"
              aria-label={`Delete ${key.accessKey}`}
              onClick={() => void askRemove(key)}
            >
              <Trash2 size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        ),
      },
    ];
  }, [confirm, enable, remove]);
  const create = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={open}>
      Create access key
    </Button>
  );
  return (
    <Page
      title="Access keys"
      about={
        session?.isRoot
          ? "The keys of all users. Programs sign in with them."
          : "Programs sign in with these keys, with your rights or fewer."
      }
      actions={create}
    >
      <Awaited query={keys} what="Loading access keys">
        {(list) =>
          list.length === 0 ? (
            <Empty title="No access keys" icon={KeyRound} action={create}>
              An access key and its secret are what S3 programs such as aws, rclone and GDAL ask for.
            </Empty>
          ) : (
            <DataTable label="Access keys" rows={list} rowKey={({ accessKey }) => accessKey} columns={columns} />
          )
        }
      </Awaited>
      <CreateKey opened={isMaking} onClose={close} />
    </Page>
  );
}
