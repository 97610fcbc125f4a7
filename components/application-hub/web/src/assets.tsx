import { ActionIcon } from "@mantine/core";
import { AssetTable, notifyFailed } from "@swath/ui";
import type { StacAsset } from "@swath/ui/stac";
import { Download } from "lucide-react";
import { useState } from "react";

import { download } from "./platform.ts";
import { toAddress } from "./stac.ts";

interface AssetsProps {
  readonly assets: Readonly<Record<string, StacAsset>>;
  /** The document that names them. */
  readonly address: string;
}

/** The files of an item or a collection, read with the user's token. */
export function Assets({ assets, address }: AssetsProps) {
  return (
    <AssetTable
      assets={assets}
      addressOf={({ href }) => toAddress(href, address)}
      renderDownload={({ href }, title) => <DownloadAsset address={toAddress(href, address)} title={title} />}
    />
  );
}

function DownloadAsset({ address, title }: { readonly address: string; readonly title: string }) {
  const [isLoading, setLoading] = useState(false);
  const get = async () => {
    setLoading(true);
    try {
      await download(address);
    } catch (error) {
      notifyFailed(`${title} was not downloaded`, error);
    } finally {
      setLoading(false);
    }
  };
  return (
    <ActionIcon variant="subtle" aria-label={`Download ${title}`} loading={isLoading} onClick={() => void get()}>
      <Download size={16} aria-hidden />
    </ActionIcon>
  );
}
