import { Button, Group, NumberInput, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";

import type { Polygon } from "../map/box.ts";
import { coverageUrl, stylesQuery } from "./data.ts";
import type { Look } from "./view-state.ts";

const SYSTEMS = [
  { value: "", label: "That of the files" },
  { value: "EPSG:4326", label: "WGS 84 (EPSG:4326)" },
  { value: "EPSG:3857", label: "Web Mercator (EPSG:3857)" },
  { value: "EPSG:3035", label: "Europe, equal area (EPSG:3035)" },
];
const FORMATS = [
  { value: "tiff", label: "GeoTIFF (cloud-optimised)" },
  { value: "png", label: "PNG" },
  { value: "npy", label: "NumPy" },
  { value: "covjson", label: "CoverageJSON" },
];
const METRES_PER_DEGREE = 111_320;

interface DownloadAreaProps {
  readonly base: string;
  readonly look: Look;
  readonly area: Polygon;
}

/** The values of the drawn area as a file. */
export function DownloadArea({ base, look, area }: DownloadAreaProps) {
  const [format, setFormat] = useState("tiff");
  const [crs, setCrs] = useState("");
  const [metres, setMetres] = useState<number | string>("");
  const styles = useQuery(stylesQuery(base, look.layer));
  const bands = (styles.data ?? []).map(({ expression }) => expression).filter((text) => /^\w+$/.test(text));
  const [band, setBand] = useState<string>();
  const [west, south, east, north] = bboxOf(area);
  const middle = ((south + north) / 2) * (Math.PI / 180);
  const parameters = new URLSearchParams({ f: format, bbox: [west, south, east, north].join(",") });
  if (crs !== "") {
    parameters.set("crs", crs);
  }
  if (band !== undefined) {
    parameters.set("properties", band);
  }
  if (look.time !== undefined) {
    parameters.set("datetime", look.time);
  }
  const [width, height] = [
    ((east - west) * METRES_PER_DEGREE * Math.cos(middle)) / Number(metres),
    ((north - south) * METRES_PER_DEGREE) / Number(metres),
  ].map((pixels) => Math.max(1, Math.round(pixels)));
  if (typeof metres === "number" && metres > 0 && width !== undefined && height !== undefined) {
    parameters.set("width", String(width));
    parameters.set("height", String(height));
  }
  return (
    <Stack gap="xs">
      <Group grow>
        <Select
          size="xs"
          label="Format"
          data={FORMATS}
          value={format}
          allowDeselect={false}
          onChange={(value) => setFormat(value ?? "tiff")}
        />
        <Select
          size="xs"
          label="Coordinate system"
          data={SYSTEMS}
          value={crs}
          allowDeselect={false}
          onChange={(value) => setCrs(value ?? "")}
        />
      </Group>
      <Group grow>
        <Select
          size="xs"
          label="Band"
          placeholder="All"
          data={bands}
          value={band ?? null}
          clearable
          onChange={(value) => setBand(value ?? undefined)}
        />
        <NumberInput
          size="xs"
          label="Resolution (m)"
          placeholder="That of the files"
          min={0.1}
          value={metres}
          onChange={setMetres}
        />
      </Group>
      <Group>
        <Button
          component="a"
          href={coverageUrl(base, look.layer, parameters)}
          download
          size="xs"
          leftSection={<Download size={14} aria-hidden />}
        >
          Download
        </Button>
        <Text size="xs" c="dimmed">
          {look.time ?? "Newest of all"}
        </Text>
      </Group>
    </Stack>
  );
}

function bboxOf({ coordinates }: Polygon): readonly [number, number, number, number] {
  const points = coordinates.flat();
  const [xs, ys] = [points.map(([x = 0]) => x), points.map(([, y = 0]) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}
