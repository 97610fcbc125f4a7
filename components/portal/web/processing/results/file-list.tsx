import { ActionIcon, Anchor, Text } from "@mantine/core";
import { type Column, DataTable, formatBytes } from "@swath/ui";
import { Download } from "lucide-react";
import { useMemo } from "react";

import { useProcessing } from "../api/processing.ts";
import type { ResultFile } from "../model/result-items.ts";

/** The files of a job's results, each to be looked at or downloaded. */
export function FileList({ job, files }: { readonly job: string; readonly files: readonly ResultFile[] }) {
  const client = useProcessing();
  const columns = useMemo(
    (): readonly Column<ResultFile>[] => [
      {
        key: "path",
        header: "File",
        sortBy: ({ path }) => path,
        render: ({ path }) => (
          <>
            <Anchor
              href={client.fileUrl(job, path)}
              target="_blank"
              rel="noreferrer"
              size="sm"
              truncate
              display="block"
            >
              {path.slice(path.lastIndexOf("/") + 1)}
            </Anchor>
            {path.includes("/") && (
              <Text size="xs" c="dimmed" truncate>
                {path.slice(0, path.lastIndexOf("/"))}
              </Text>
            )}
          </>
        ),
      },
      { key: "type", header: "Type", width: "28%", hideBelow: "md", render: ({ type }) => type },
      {
        key: "size",
        header: "Size",
        width: "7rem",
        align: "end",
        sortBy: ({ size }) => size,
        render: ({ size }) => formatBytes(size),
      },
      {
        key: "download",
        header: "Download",
        hideHeader: true,
        width: "3.5rem",
        align: "end",
        render: ({ path }) => (
          <ActionIcon
            component="a"
            href={client.fileUrl(job, path, { download: true })}
            download
            variant="subtle"
            color="gray"
            aria-label={`Download ${path}`}
          >
            <Download size={16} aria-hidden />
          </ActionIcon>
        ),
      },
    ],
    [client, job],
  );
  return <DataTable label="Files of the results" rows={files} rowKey={({ path }) => path} columns={columns} />;
}
