import { Footprints, MapView } from "@swath/ui/map";
import { useMemo } from "react";

import { boxOfItems } from "../model/result-items.ts";
import type { Scene } from "./scene-sources.ts";

interface SceneMapProps {
  readonly scenes: readonly Scene[];
  readonly chosen: readonly Scene[];
  readonly onToggle: (href: string) => void;
}

/** Where scenes lie. */
export function SceneMap({ scenes, chosen, onToggle }: SceneMapProps) {
  const items = useMemo(() => scenes.map(({ href, geometry }) => ({ id: href, geometry })), [scenes]);
  const bbox = useMemo(() => boxOfItems(scenes), [scenes]);
  return (
    <MapView label="Footprints of the scenes" height={260} box={bbox}>
      <Footprints items={items} selected={chosen.at(-1)?.href} onSelect={onToggle} />
    </MapView>
  );
}
