import { Image } from "@mantine/core";
import { type StacItem, pictureAssets } from "@swath/ui/stac";
import { Satellite } from "lucide-react";
import { useState } from "react";

import { serviceUrl } from "../../src/api/services.ts";
import { usePortal } from "../../src/session/portal.ts";
import { assetUrl } from "../api/catalogue.ts";
import { previewPath } from "../model/stac.ts";
import classes from "./thumbnail.module.css";

/**
 * Addresses of pictures of an item, the best first: its own ones, then one that data access draws and keeps. The browser keeps them too, and
 * asks each time whether they are still good and may still be seen.
 */
export function usePictures(item: StacItem, width: number): readonly string[] {
  const { config } = usePortal();
  const drawn = config.services.includes("data-access") ? previewPath(item, width) : undefined;
  return [
    ...pictureAssets(item)
      .map(assetUrl)
      .filter((url) => url !== undefined),
    ...(drawn === undefined ? [] : [serviceUrl("data-access", drawn)]),
  ];
}

interface ThumbnailProps {
  readonly item: StacItem;
  /** Pixels, or a share of the room with a height of its own. */
  readonly size?: number | string;
  readonly height?: number;
}

/** A small picture of an item, fetched when it comes into sight; a sign in its place where there is none. */
export function Thumbnail({ item, size = 64, height }: ThumbnailProps) {
  const pictures = usePictures(item, 2 * (height ?? Number(size)));
  const [failed, setFailed] = useState<readonly string[]>([]);
  const url = pictures.find((each) => !failed.includes(each));
  return url === undefined ? (
    <div className={classes["placeholder"] ?? ""} style={{ width: size, height: height ?? size }} aria-hidden>
      <Satellite size={(height ?? Number(size)) / 2.5} strokeWidth={1.2} />
    </div>
  ) : (
    <Image
      src={url}
      alt=""
      w={size}
      h={height ?? size}
      radius="sm"
      fit="cover"
      loading="lazy"
      onError={() => setFailed((before) => [...before, url])}
    />
  );
}
