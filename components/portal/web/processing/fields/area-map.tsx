import { Button, Group, Text } from "@mantine/core";
import { DrawArea, Footprints, MapView, type Polygon } from "@swath/ui/map";
import { SquareDashed, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";

import { boxOf } from "../model/areas.ts";
import { boxOfItems } from "../model/result-items.ts";
import { useForm } from "./form-context.ts";

interface AreaMapProps {
  readonly label: string;
  readonly shape: "box" | "polygon";
  readonly value: Polygon | undefined;
  readonly onChange: (area: Polygon | undefined) => void;
}

/** A map to draw an area on; the scenes that were chosen are on it. */
export function AreaMap({ label, shape, value, onChange }: AreaMapProps) {
  const { scenes } = useForm();
  const [isDrawing, setDrawing] = useState(false);
  const shown = useMemo(() => [...scenes.values()].map(({ href, geometry }) => ({ id: href, geometry })), [scenes]);
  // Where to look at first: what is drawn already, else the scenes; later the map stays where it was put.
  const [first] = useState(() => boxOf(value));
  const box = boxOfItems([...scenes.values()]) ?? first;
  return (
    <>
      <Group gap="xs" mb="xs">
        <Button
          size="xs"
          variant={isDrawing ? "filled" : "light"}
          leftSection={<SquareDashed size={14} aria-hidden />}
          aria-pressed={isDrawing}
          onClick={() => setDrawing(!isDrawing)}
        >
          {value === undefined ? `Draw a ${shape}` : "Draw anew"}
        </Button>
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
          {isDrawing
            ? shape === "box"
              ? "Click one corner, then the opposite one."
              : "Click each corner; double-click the last."
            : "Or type the coordinates below."}
        </Text>
      </Group>
      <MapView label={`Map for ${label}`} height={320} box={box}>
        <Footprints items={shown} outline />
        <DrawArea
          shape={shape}
          value={value}
          isDrawing={isDrawing}
          onChange={(area) => {
            setDrawing(false);
            onChange(area);
          }}
        />
      </MapView>
    </>
  );
}
