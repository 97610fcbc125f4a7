import { Anchor, Button, Drawer, Group, Stack, Text } from "@mantine/core";
import { Awaited, CopyButton, Part, formatBytes, formatTime, lazyPart, request } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { Cpu, Download } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";

import { UseInProcessing } from "../../../catalogue/parts/use-in-processing.tsx";
import { fileUrl } from "../../api/files.ts";
import { usePortal } from "../../session/portal.ts";
import classes from "./preview.module.css";
import { kindOf, prettify } from "./preview-kind.ts";
import type { Row } from "./rows.ts";

const RasterPreview = lazyPart(async () => ({ default: (await import("./raster-preview.tsx")).RasterPreview }));

interface PreviewProps {
  readonly workspace: string;
  readonly file: Row | undefined;
  readonly onClose: () => void;
}

/** A file as it looks, with what is known of it. */
export function Preview({ workspace, file, onClose }: PreviewProps) {
  return (
    <Drawer
      opened={file !== undefined}
      onClose={onClose}
      position="right"
      size="lg"
      title={file?.name}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {file && <Content workspace={workspace} file={file} />}
    </Drawer>
  );
}

function Content({ workspace, file }: { readonly workspace: string; readonly file: Row }) {
  const { key, name, size = 0, modified } = file;
  const { config } = usePortal();
  const [isUsed, setUsed] = useState(false);
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {formatBytes(size)}
        {modified !== undefined && `, changed ${formatTime(new Date(modified))}`}
      </Text>
      <Group gap="xs">
        <Button
          component="a"
          href={fileUrl(workspace, key, { download: true })}
          download={name}
          leftSection={<Download size={16} aria-hidden />}
        >
          Download
        </Button>
        <CopyButton value={`s3://${workspace}/${key}`} label="Copy the S3 address" labelled />
        {config.services.includes("ades") && /\.(geo)?json$|\.tiff?$/i.test(name) && (
          <Button variant="default" leftSection={<Cpu size={16} aria-hidden />} onClick={() => setUsed(true)}>
            Use in processing
          </Button>
        )}
        {config.services.includes("ades") && /\.(cwl|ya?ml)$/i.test(name) && (
          <Button
            component={Link}
            to={`/processing/deploy?href=${encodeURIComponent(`s3://${workspace}/${key}`)}`}
            variant="default"
            leftSection={<Cpu size={16} aria-hidden />}
          >
            Deploy as a process
          </Button>
        )}
        {isUsed && <UseInProcessing href={`s3://${workspace}/${key}`} onClose={() => setUsed(false)} />}
      </Group>
      <Look workspace={workspace} file={file} />
    </Stack>
  );
}

function Look({ workspace, file: { key, name, size = 0 } }: { readonly workspace: string; readonly file: Row }) {
  const url = fileUrl(workspace, key);
  switch (kindOf(name, size)) {
    case "image":
      return (
        <Anchor href={url}>
          <img src={url} alt={`Contents of ${name}`} className={classes.image} />
        </Anchor>
      );
    case "raster":
      return (
        <Part what="the raster">
          <RasterPreview key={url} url={url} name={name} />
        </Part>
      );
    case "text":
      return <TextLook url={url} name={name} />;
    case "none":
      return (
        <Text size="sm" c="dimmed">
          There is no preview of files of this kind.
        </Text>
      );
  }
}

function TextLook({ url, name }: { readonly url: string; readonly name: string }) {
  const text = useQuery({
    queryKey: ["file-text", url],
    queryFn: async () => (await request(url, { headers: { accept: "*/*" } })).text(),
  });
  return (
    <Awaited query={text} what="Reading the file">
      {(found) => (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to be reached
        <pre className={classes.text} tabIndex={0} aria-label={`Contents of ${name}`}>
          {prettify(name, found)}
        </pre>
      )}
    </Awaited>
  );
}
