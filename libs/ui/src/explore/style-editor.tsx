import { Button, Collapse, Group, NumberInput, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Palette, Save } from "lucide-react";
import { useState } from "react";

import { notifyDone, notifyFailed } from "../notify.ts";
import { request } from "../request.ts";
import { type BandSummary, type LayerInfo, statisticsQuery, styleUrl, stylesQuery } from "./data.ts";
import type { Look } from "./view-state.ts";

const COLOUR_MAPS = [
  "viridis",
  "rdylgn",
  "blues",
  "greens",
  "terrain",
  "inferno",
  "magma",
  "turbo",
  "spectral",
  "gray",
];
const WIDTH = 300;
const HEIGHT = 70;

interface StyleEditorProps {
  readonly base: string;
  readonly look: Look;
  readonly layer: LayerInfo | undefined;
  readonly box: readonly number[] | undefined;
  readonly onChange: (look: Look) => void;
}

/** A style by its name, or one of one's own: formula, range over the values in sight, colours. */
export function StyleEditor({ base, look, layer, box: bbox, onChange }: StyleEditorProps) {
  const [isOpen, { toggle }] = useDisclosure(look.expression !== undefined || look.range !== undefined);
  const styles = useQuery(stylesQuery(base, look.layer));
  const current = styles.data?.find(({ id }) => id === (look.style ?? layer?.styles[0]?.id));
  const expression = look.expression ?? current?.expression ?? "";
  const [draft, setDraft] = useState<string>();
  const isOneBand = !expression.includes(";");
  return (
    <Stack gap="xs">
      <Select
        label="Style"
        allowDeselect={false}
        data={(styles.data ?? layer?.styles ?? []).map(({ id, title }) => ({ value: id, label: title }))}
        value={look.style ?? layer?.styles[0]?.id ?? null}
        onChange={(style) => {
          setDraft(undefined);
          onChange({ ...look, style: style ?? undefined, expression: undefined, range: undefined, colours: undefined });
        }}
      />
      <Group>
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<Palette size={14} aria-hidden />}
          aria-expanded={isOpen}
          onClick={toggle}
        >
          Edit style
        </Button>
      </Group>
      <Collapse expanded={isOpen}>
        <Stack gap="xs">
          <TextInput
            label="Formula"
            description="Over the bands: (nir-red)/(nir+red). Three with ; between them make a colour picture."
            value={draft ?? expression}
            onChange={({ currentTarget }) => setDraft(currentTarget.value)}
            onBlur={() => {
              if (draft !== undefined && draft.trim() !== "" && draft !== expression) {
                onChange({ ...look, expression: draft.trim(), range: undefined });
              }
              setDraft(undefined);
            }}
            onKeyDown={({ key, currentTarget }) => key === "Enter" && currentTarget.blur()}
          />
          {isOpen && (
            <LiveHistogram
              base={base}
              look={look}
              box={bbox}
              range={look.range ?? current?.rescale?.[0]}
              onRange={(range) => onChange({ ...look, range })}
            />
          )}
          {isOneBand && (
            <Select
              label="Colours"
              data={COLOUR_MAPS}
              value={look.colours ?? current?.colormap_name ?? null}
              placeholder="Grey"
              clearable
              onChange={(colours) => onChange({ ...look, colours: colours ?? undefined })}
            />
          )}
          <KeepStyle base={base} look={look} expression={expression} />
        </Stack>
      </Collapse>
    </Stack>
  );
}

interface LiveHistogramProps {
  readonly base: string;
  readonly look: Look;
  readonly box: readonly number[] | undefined;
  readonly range: readonly [number, number] | undefined;
  readonly onRange: (range: readonly [number, number]) => void;
}

/** How often each value comes in what is in sight, and the ends of the colours. */
function LiveHistogram({ base, look, box: bbox, range, onRange }: LiveHistogramProps) {
  const found = useQuery(statisticsQuery(base, look, bbox));
  const bands = Object.values(found.data ?? {}).map((band) => [band.description, band] as const);
  const [low, high] = range ?? endsOf(bands);
  return (
    <Stack gap={4}>
      {found.isError && (
        <Text size="xs" c="dimmed" role="status">
          No values in sight, or the formula has a mistake.
        </Text>
      )}
      {bands.slice(0, 3).map(([band, summary]) => (
        <Bars key={band} band={band} summary={summary} low={low} high={high} />
      ))}
      <Group grow>
        <NumberInput
          size="xs"
          label="From"
          value={low ?? ""}
          onChange={(value) =>
            typeof value === "number" && high !== undefined && value !== high && onRange([value, high])
          }
        />
        <NumberInput
          size="xs"
          label="To"
          value={high ?? ""}
          onChange={(value) => typeof value === "number" && low !== undefined && value !== low && onRange([low, value])}
        />
      </Group>
      {bands.length > 0 && (
        <Group>
          <Button size="compact-xs" variant="default" onClick={() => onRange(endsOf(bands) as [number, number])}>
            Fit to what is in sight
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function endsOf(bands: readonly (readonly [string, BandSummary])[]): readonly [number | undefined, number | undefined] {
  const lows = bands.map(([, { percentile_2: value }]) => value).filter(Number.isFinite);
  const highs = bands.map(([, { percentile_98: value }]) => value).filter(Number.isFinite);
  const round = (value: number) => Number(value.toPrecision(4));
  return lows.length === 0 ? [undefined, undefined] : [round(Math.min(...lows)), round(Math.max(...highs))];
}

interface BarsProps {
  readonly band: string;
  readonly summary: BandSummary;
  readonly low: number | undefined;
  readonly high: number | undefined;
}

function Bars({ band, summary: { histogram, min, max, mean }, low, high }: BarsProps) {
  const [counts, edges] = histogram;
  const most = Math.max(1, ...counts);
  const place = (value: number) => ((value - min) / (max - min || 1)) * WIDTH;
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width="100%"
      role="img"
      aria-label={`${band}: values from ${min.toPrecision(3)} to ${max.toPrecision(3)}, mean ${mean.toPrecision(3)}`}
    >
      {counts.map((count, at) => {
        const height = (count / most) * (HEIGHT - 4);
        return (
          <rect
            key={edges[at]}
            x={(at * WIDTH) / counts.length}
            y={HEIGHT - height}
            width={WIDTH / counts.length - 0.6}
            height={height}
            fill="var(--mantine-primary-color-filled)"
          />
        );
      })}
      {[low, high].map(
        (value, at) =>
          value !== undefined && (
            <line
              // oxlint-disable-next-line react/no-array-index-key -- the ends are told apart by their place
              key={at}
              x1={place(value)}
              x2={place(value)}
              y1={0}
              y2={HEIGHT}
              stroke="#e8590c"
              strokeWidth={2}
            />
          ),
      )}
    </svg>
  );
}

/** Keeps the style with the collection, for everybody who sees it; those who may not are told so. */
function KeepStyle({
  base,
  look,
  expression,
}: {
  readonly base: string;
  readonly look: Look;
  readonly expression: string;
}) {
  const [name, setName] = useState("");
  const client = useQueryClient();
  const keep = useMutation({
    mutationFn: () => {
      const id = name
        .trim()
        .toLowerCase()
        .replaceAll(/[^\w.-]+/g, "-");
      const bands = expression.split(";").length;
      return request(styleUrl(base, look.layer, id), {
        method: "PUT",
        body: {
          title: name.trim(),
          expression,
          ...(look.range !== undefined && { rescale: Array.from({ length: bands }, () => look.range) }),
          ...(look.colours !== undefined && { colormap_name: look.colours }),
        },
      });
    },
    onSuccess: async () => {
      notifyDone(`${name} is a style of this collection now.`);
      setName("");
      await client.invalidateQueries({ queryKey: ["explore", base] });
    },
    onError: (error) => notifyFailed("Style not saved", error),
  });
  return (
    <Group align="end" gap="xs" wrap="nowrap">
      <TextInput
        size="xs"
        label="Save as a style of the collection"
        placeholder="Name"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        style={{ flex: 1 }}
      />
      <Button
        size="xs"
        variant="default"
        leftSection={<Save size={14} aria-hidden />}
        disabled={name.trim() === "" || expression === ""}
        loading={keep.isPending}
        onClick={() => keep.mutate()}
      >
        Save
      </Button>
    </Group>
  );
}
