import { Alert, Button, Group, Text } from "@mantine/core";
import { DrawShape, Footprints, MapView, type Polygon } from "@swath/ui/map";
import { SquareDashed, Trash2, TriangleAlert } from "lucide-react";
import { useMemo, useState } from "react";

import { bboxOf, toPolygon } from "../model/areas.ts";
import { findOutside } from "../model/area-in-scenes.ts";
import { AreaFileButton } from "./area-file-button.tsx";
import { boxOfItems } from "../model/result-items.ts";
import { useForm } from "./form-context.ts";
import type { Scene } from "./scene-sources.ts";

interface AreaMapProps {
  readonly label: string;
  readonly shape: "box" | "polygon";
  readonly value: Polygon | undefined;
  /** What was typed: the map goes there. */
  readonly typed?: Polygon | undefined;
  readonly onChange: (area: Polygon | undefined) => void;
}

/** Where to look: at first at what there is, later at what was typed or chosen last. What is drawn is in sight anyway. */
function useSight(value: Polygon | undefined, typed: Polygon | undefined, scenes: ReadonlyMap<string, Scene>) {
  const [sight, setSight] = useState(() => ({ typed, scenes, box: boxOfItems([...scenes.values()]) ?? bboxOf(value) }));
  if (sight.scenes !== scenes) {
    setSight({ ...sight, scenes, box: boxOfItems([...scenes.values()]) ?? sight.box });
  } else if (typed !== undefined && typed !== sight.typed) {
    setSight({ ...sight, typed, box: bboxOf(typed) });
  }
  return sight.box;
}

const KEYS =
  "With keys: arrows move the map below the cross (Shift: a little), plus and minus zoom, Enter sets a corner";
const HINTS = {
  box: `Click one corner, then the opposite one. ${KEYS}.`,
  polygon: `Click each corner; double-click the last. ${KEYS}, twice the last.`,
} as const;

/** A map to draw an area on; the scenes that were chosen are on it. */
export function AreaMap({ label, shape, value, typed, onChange }: AreaMapProps) {
  const { scenes } = useForm();
  const [isDrawing, setDrawing] = useState(false);
  const [said, setSaid] = useState<string>();
  const shown = useMemo(() => [...scenes.values()].map(({ href, geometry }) => ({ id: href, geometry })), [scenes]);
  const [uploaded, setUploaded] = useState<Polygon>();
  const bbox = useSight(value, uploaded ?? typed, scenes);
  const outside = findOutside(value, [...scenes.values()]);
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
          {value === undefined ? `Draw a ${shape}` : "Draw anew"}
        </Button>
        <AreaFileButton
          onArea={(area) => {
            const around = bboxOf(area);
            setUploaded(area);
            onChange(shape === "box" && around !== undefined ? toPolygon(around) : area);
          }}
        />
        {value !== undefined && (
          <Button
            size="xs"
            variant="default"
            leftSection={<Trash2 size={14} aria-hidden />}
            onClick={() => onChange(undefined)}
          >
            Clear
          </Button>
        )}
        <Text size="xs" c="dimmed" role="status">
          {isDrawing ? (said ?? HINTS[shape]) : "Or type the coordinates below: the map shows them at once."}
        </Text>
      </Group>
      <MapView label={`Map for ${label}`} height={320} box={bbox}>
        <Footprints items={shown} outline />
        <DrawShape
          shape={shape}
          value={value}
          isDrawing={isDrawing}
          onSay={setSaid}
          onCancel={() => setDrawing(false)}
          onChange={(area) => {
            setDrawing(false);
            onChange(area);
          }}
        />
      </MapView>
      {outside !== undefined && (
        <Alert color="yellow" variant="light" role="status" mt="xs" icon={<TriangleAlert aria-hidden />}>
          {outside}
        </Alert>
      )}
    </>
  );
}
