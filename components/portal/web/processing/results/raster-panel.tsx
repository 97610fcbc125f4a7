import { Group, NativeSelect, NumberInput, Slider, Stack, Text } from "@mantine/core";
import { ErrorNote, Loading } from "@swath/ui";
import { type ColourRamp, RAMPS, toGradient } from "@swath/ui/map";

import { formatValue } from "../model/raster-statistics.ts";
import { Histogram } from "./histogram.tsx";
import type { RasterResponse } from "./raster-messages.ts";

interface RasterPanelProps {
  readonly title: string;
  readonly query: {
    readonly data: RasterResponse | undefined;
    readonly error: unknown;
    readonly refetch: () => unknown;
  };
  readonly band: number;
  readonly onBand: (band: number) => void;
  readonly ramp: ColourRamp;
  readonly onRamp: (name: string) => void;
  /** Values of the first and the last colour. */
  readonly range: readonly [number, number] | undefined;
  readonly onRange: (range: readonly [number, number]) => void;
  readonly opacity: number;
  readonly onOpacity: (opacity: number) => void;
}

/** How a raster is drawn, and how its values are spread. */
export function RasterPanel(props: RasterPanelProps) {
  const { title, query, band, onBand, ramp, onRamp, range, onRange, opacity, onOpacity } = props;
  const { data, error } = query;
  if (error) {
    return <ErrorNote title="The raster cannot be read" error={error} onRetry={() => void query.refetch()} />;
  }
  if (data === undefined) {
    return <Loading what="Reading the raster" />;
  }
  const { statistics } = data;
  const [low, high] = range ?? [0, 1];
  const step = statistics === undefined ? 0.1 : Math.max(1e-6, (statistics.maximum - statistics.minimum) / 50);
  return (
    <Stack gap="sm">
      <div>
        <Text fw={600} size="sm">
          {title}
        </Text>
        <Text size="xs" c="dimmed">
          {data.width} × {data.height} pixels
          {data.reducedBy > 1 && `, summed up from an overview 1 : ${Math.round(data.reducedBy)}`}
        </Text>
      </div>
      {data.bands > 1 && (
        <NativeSelect
          label="Band"
          data={Array.from({ length: data.bands }, (_, index) => String(index + 1))}
          value={String(band)}
          onChange={(event) => onBand(Number(event.currentTarget.value))}
        />
      )}
      {statistics === undefined ? (
        <Text size="sm">No pixel has a value.</Text>
      ) : (
        <>
          <NativeSelect
            label="Colours"
            data={RAMPS.map(({ name, label }) => ({ value: name, label }))}
            value={ramp.name}
            onChange={(event) => onRamp(event.currentTarget.value)}
          />
          <div aria-hidden style={{ height: 12, borderRadius: 4, background: toGradient(ramp) }} />
          <Group grow wrap="nowrap" gap="xs">
            <NumberInput
              label="From"
              size="xs"
              step={step}
              value={Number(formatValue(low))}
              onChange={(value) => typeof value === "number" && value < high && onRange([value, high])}
            />
            <NumberInput
              label="To"
              size="xs"
              step={step}
              value={Number(formatValue(high))}
              onChange={(value) => typeof value === "number" && value > low && onRange([low, value])}
            />
          </Group>
          <div>
            <Text size="sm" fw={500} mb={4}>
              Opacity
            </Text>
            <Slider
              min={0}
              max={1}
              step={0.05}
              value={opacity}
              onChange={onOpacity}
              label={(value) => `${Math.round(value * 100)} %`}
              thumbLabel="Opacity"
            />
          </div>
          <Histogram label={title} statistics={statistics} ramp={ramp} range={[low, high]} />
        </>
      )}
    </Stack>
  );
}
