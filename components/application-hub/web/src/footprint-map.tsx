import { Footprints, MapView, PictureLayer } from "@swath/ui/map";
import { useMemo } from "react";

import { type Box, mergeBboxes } from "./stac.ts";

interface FootprintMapProps {
  readonly label: string;
  readonly height?: number;
  readonly items: readonly { readonly id: string; readonly geometry: unknown; readonly box: Box | undefined }[];
  readonly onSelect?: (id: string) => void;
  readonly selected?: string | undefined;
  /** A picture of what lies in the box. */
  readonly picture?: { readonly url: string; readonly box: Box } | undefined;
}

/** Where things lie. */
export function FootprintMap({ label, height = 360, items, picture, ...rest }: FootprintMapProps) {
  const key = JSON.stringify(items.map(({ box }) => box));
  const box = useMemo(() => mergeBboxes(JSON.parse(key) as (Box | undefined)[]), [key]);
  return (
    <MapView label={label} height={height} box={box}>
      {picture !== undefined && <PictureLayer url={picture.url} box={picture.box} />}
      <Footprints items={items} outline={picture !== undefined || items.length > 20} {...rest} />
    </MapView>
  );
}
