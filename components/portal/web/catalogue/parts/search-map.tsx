import { Button, Group, Text } from "@mantine/core";
import { DrawShape, Footprints, MapView } from "@swath/ui/map";
import type { StacItem } from "@swath/ui/stac";
import { SquareDashed, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";

import { AreaFileButton } from "../../processing/fields/area-file-button.tsx";
import { type Box, bboxOf, roundBox, toPolygon } from "../../processing/model/areas.ts";
import { boxOfFeatures } from "../model/stac.ts";
import { keyOf } from "./result-list.tsx";

interface SearchMapProps {
  readonly items: readonly StacItem[];
  readonly selected: string | undefined;
  readonly onSelect: (key: string) => void;
  readonly box: Box | undefined;
  readonly onBox: (bbox: Box | undefined) => void;
}

const HINT =
  "Click one corner, then the opposite one. With keys: arrows move the map below the cross, Enter sets a corner.";

/** Footprints of what was found, and the area that is searched. */
export function SearchMap({ items, selected, onSelect, box: bbox, onBox }: SearchMapProps) {
  const [isDrawing, setDrawing] = useState(false);
  const [said, setSaid] = useState<string>();
  const shown = useMemo(() => items.map((item) => ({ id: keyOf(item), geometry: item.geometry })), [items]);
  const polygon = useMemo(() => bbox && toPolygon(bbox), [bbox]);
  const sight = useMemo(() => bbox ?? boxOfFeatures(items), [bbox, items]);
  return (
    <>
      <Group gap="xs" mb="xs">
        <Button
          size="xs"
          variant={isDrawing ? "filled" : "light"}
          leftSection={<SquareDashed size={14} aria-hidden />}
          aria-pressed={isDrawing}
          onClick={() => {
            setSaid(undefined);
            setDrawing(!isDrawing);
          }}
        >
          {bbox === undefined ? "Draw an area" : "Draw another area"}
        </Button>
        <AreaFileButton
          onArea={(area) => {
            const around = bboxOf(area);
            onBox(around && roundBox(around));
          }}
        />
        {bbox !== undefined && (
          <Button
            size="xs"
            variant="default"
            leftSection={<Trash2 size={14} aria-hidden />}
            onClick={() => onBox(undefined)}
          >
            Clear area
          </Button>
        )}
        <Text size="xs" c="dimmed" role="status">
          {isDrawing ? (said ?? HINT) : ""}
        </Text>
      </Group>
      <MapView label="Footprints of the results" height={420} box={sight}>
        <Footprints items={shown} selected={selected} onSelect={onSelect} outline={items.length > 20} />
        <DrawShape
          shape="box"
          value={polygon}
          isDrawing={isDrawing}
          onSay={setSaid}
          onCancel={() => setDrawing(false)}
          onChange={(area) => {
            setDrawing(false);
            const drawn = bboxOf(area);
            onBox(drawn && roundBox(drawn));
          }}
        />
      </MapView>
    </>
  );
}
