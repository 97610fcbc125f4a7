import { Badge, Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import {
  Awaited,
  type Column,
  DataTable,
  Empty,
  Page,
  RelativeTime,
  deleteColumn,
  requestJson,
  switchColumn,
  useChange,
  useConfirm,
} from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
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

/** The keys that programs log in with: one's own, or all of them for the root user. */
export function Component() {
  const confirm = useConfirm();
  const { data: session } = useSession();
  const [isMaking, { open, close }] = useDisclosure(false);
  const keys = useQuery({
    queryKey: ["access-keys"],
    queryFn: async () => (await requestJson<{ accessKeys: AccessKey[] }>("/api/access-keys")).accessKeys,
  });
  const lists = ["access-keys"];
  const enable = useChange<AccessKey>({
    request: ({ accessKey, enabled }) =>
      requestJson(`/api/access-keys/${accessKey}`, { method: "PATCH", body: { enabled: !enabled } }),
    failed: "The key was not changed",
    lists,
  });
  const remove = useChange<AccessKey>({
    request: ({ accessKey }) => requestJson(`/api/access-keys/${accessKey}`, { method: "DELETE" }),
    failed: "The key was not deleted",
    lists,
  });
  const columns = useMemo((): readonly Column<AccessKey>[] => {
    const callRemove = async (key: AccessKey) => {
      const isSure = await confirm({
        title: `Delete the key ${key.accessKey}?`,
        body: `Programs that log in with it stop working at once${key.title === "" ? "" : ` (${key.title})`}. Links that were shared with it end.`,
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
      switchColumn(({ accessKey }) => `${accessKey} may be used`, enable),
      deleteColumn(({ accessKey }) => accessKey, callRemove),
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
          ? "The keys of all users. Programs log in with them."
          : "Programs log in with these keys, with your rights or fewer."
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
