import { Button, Group } from "@mantine/core";
import type { Polygon } from "@swath/ui/map";
import { useQuery } from "@tanstack/react-query";
import { Cpu, Layers } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";

import { collectionQuery, itemQuery } from "../../catalogue/api/catalogue.ts";
import { UseInProcessing } from "../../catalogue/parts/use-in-processing.tsx";
import { bboxOf, formatBox, roundBox } from "../../processing/model/areas.ts";

/** Goes on with an area of a layer: its scenes in the catalogue, or a process on it. */
export function UseArea({ layer, area }: { readonly layer: string; readonly area: Polygon }) {
  const [isOpen, setOpen] = useState(false);
  const at = layer.indexOf("__");
  const collection = at < 0 ? layer : layer.slice(0, at);
  const whole = useQuery({ ...collectionQuery(collection), enabled: at < 0 });
  const item = useQuery({ ...itemQuery(collection, layer.slice(at + 2)), enabled: at >= 0 });
  const self = (at < 0 ? whole.data : item.data)?.links?.find(({ rel }) => rel === "self")?.href;
  const around = bboxOf(area);
  const bbox = around && formatBox(roundBox(around));
  return (
    <Group gap="xs">
      <Button
        component={Link}
        to={`/catalogue?${new URLSearchParams({ collection, ...(bbox !== undefined && { bbox }) })}`}
        size="xs"
        variant="default"
        leftSection={<Layers size={14} aria-hidden />}
      >
        Scenes of this area
      </Button>
      {self !== undefined && (
        <Button size="xs" variant="default" leftSection={<Cpu size={14} aria-hidden />} onClick={() => setOpen(true)}>
          Use in processing
        </Button>
      )}
      {isOpen && self !== undefined && (
        <UseInProcessing href={self} {...(bbox !== undefined && { bbox })} onClose={() => setOpen(false)} />
      )}
    </Group>
  );
}
