import { isWorkspaceName } from "@swath/manifest/workspace-prefix";
import { Anchor, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { FolderOpen, Layers, Map as MapIcon } from "lucide-react";
import { Link } from "react-router";

import { usePortal } from "../../src/session/portal.ts";
import type { Job } from "../api/processing-client.ts";
import { resultQuery, useProcessing } from "../api/processing.ts";

/** Where a job's results are besides: in the workspace's files, in the catalogue, on the map. */
export function JobLinks({ job }: { readonly job: Job }) {
  const { config } = usePortal();
  const client = useProcessing();
  const result = useQuery({ ...resultQuery(client, job.jobID), enabled: job.status === "successful" });
  const { StacCatalogUri: uri } = result.data?.outputs ?? {};
  const [, bucket, folder] = (typeof uri === "string" && /^s3:\/\/([^/]+)\/(.*\/)/.exec(uri)) || [];
  const hasItems = (result.data?.itemCount ?? 0) > 0;
  const id = encodeURIComponent(job.jobID);
  const links = [
    ...(bucket !== undefined && folder !== undefined && isWorkspaceName(bucket) && config.files
      ? [
          {
            to: `/workspaces/${bucket}/files?prefix=${encodeURIComponent(folder)}`,
            label: "In the workspace's files",
            icon: FolderOpen,
          },
        ]
      : []),
    ...(hasItems && config.services.includes("resource-catalogue")
      ? [{ to: `/catalogue/collections/${id}`, label: "In the catalogue", icon: Layers }]
      : []),
    ...(hasItems && config.services.includes("data-access")
      ? [{ to: `/explore?layer=${id}`, label: "Explore", icon: MapIcon }]
      : []),
  ];
  return links.length === 0 ? null : (
    <Group gap="md">
      {links.map(({ to, label, icon: Icon }) => (
        <Anchor key={to} component={Link} to={to} size="sm">
          <Group gap={6} wrap="nowrap" component="span" mih={24}>
            <Icon size={16} aria-hidden />
            {label}
          </Group>
        </Anchor>
      ))}
    </Group>
  );
}
