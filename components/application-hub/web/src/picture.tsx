import { Image, Skeleton } from "@mantine/core";
import { useIntersection } from "@mantine/hooks";
import { type StacItem, pictureAssets } from "@swath/ui/stac";
import { useQuery } from "@tanstack/react-query";
import { Satellite } from "lucide-react";
import { useState } from "react";

import { findCatalogue, readEnvironment, readPicture } from "./platform.ts";
import { toAddress } from "./stac.ts";

const SIZE = 64;

/**
 * Address of a picture of an item: its own, else one that data access draws of an item of the platform's catalogue.
 * @param onMap in the map's projection, by data access alone
 */
export async function findPicture(
  item: StacItem,
  address: string,
  width: number,
  onMap = false,
): Promise<string | undefined> {
  const own = onMap ? undefined : pictureAssets(item)[0];
  if (own !== undefined) {
    return toAddress(own.href, address);
  }
  const [{ services }, catalogue] = await Promise.all([readEnvironment(), findCatalogue()]);
  const base = services["data-access"];
  if (
    base === undefined ||
    catalogue === undefined ||
    !address.startsWith(catalogue) ||
    item.collection === undefined
  ) {
    return undefined;
  }
  const layer = encodeURIComponent(`${item.collection}__${item.id}`);
  const query = new URLSearchParams({ width: String(width), f: "png", ...(onMap && { crs: "EPSG:3857" }) });
  return `${base}/collections/${layer}/map?${query}`;
}

/** A picture of an item; null where it has none. */
export const pictureQuery = (item: StacItem, address: string, width: number, onMap = false) => ({
  queryKey: ["picture", address, width, onMap],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
    const url = await findPicture(item, address, width, onMap);
    return url === undefined ? null : readPicture(url, signal);
  },
  staleTime: Infinity,
  retry: false,
});

/** A small picture, fetched when it is in sight. */
export function Thumbnail({ item, address }: { readonly item: StacItem; readonly address: string }) {
  const { ref, entry } = useIntersection({ rootMargin: "200px" });
  const [wasSeen, setSeen] = useState(false);
  if (entry?.isIntersecting === true && !wasSeen) {
    setSeen(true);
  }
  const { data, isLoading } = useQuery({ ...pictureQuery(item, address, 2 * SIZE), enabled: wasSeen });
  return (
    <div ref={ref} style={{ width: SIZE, height: SIZE, flex: "none" }}>
      {isLoading ? (
        <Skeleton width={SIZE} height={SIZE} animate={false} />
      ) : data === undefined || data === null ? (
        <Satellite size={SIZE / 2} strokeWidth={1.2} aria-hidden style={{ margin: SIZE / 4 }} />
      ) : (
        <Image src={data} alt="" w={SIZE} h={SIZE} radius="sm" fit="cover" />
      )}
    </div>
  );
}
