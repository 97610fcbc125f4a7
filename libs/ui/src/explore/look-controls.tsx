import { Button, Group, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight } from "lucide-react";

import { type DayInfo, type LayerInfo, daysQuery, layerQuery } from "./data.ts";
import { StyleEditor } from "./style-editor.tsx";
import type { Look } from "./view-state.ts";

interface LookControlsProps {
  readonly base: string;
  readonly label: string;
  readonly look: Look;
  readonly layers: readonly LayerInfo[];
  readonly box: readonly number[] | undefined;
  readonly onChange: (look: Look) => void;
}

/** Which layer is shown, when, and how. */
export function LookControls({ base, label, look, layers, box: bbox, onChange }: LookControlsProps) {
  const listed = layers.find(({ id }) => id === look.layer);
  const own = useQuery({ ...layerQuery(base, look.layer), enabled: listed === undefined });
  const layer = listed ?? own.data;
  const days = useQuery(daysQuery(base, look.layer, bbox));
  return (
    <Stack gap="sm" role="group" aria-label={label}>
      <Select
        label="Layer"
        searchable
        allowDeselect={false}
        data={[
          ...(listed === undefined ? [{ value: look.layer, label: layer?.title ?? look.layer }] : []),
          ...layers.map(({ id, title }) => ({ value: id, label: title })),
        ]}
        value={look.layer}
        onChange={(id) =>
          id !== null &&
          onChange({
            layer: id,
            style: undefined,
            time: undefined,
            expression: undefined,
            range: undefined,
            colours: undefined,
          })
        }
      />
      {own.isError && (
        <Text size="sm" c="red" role="alert">
          This layer does not exist, or you may not see it.
        </Text>
      )}
      <DaySlider days={days.data ?? []} value={look.time} onChange={(time) => onChange({ ...look, time })} />
      <StyleEditor base={base} look={look} layer={layer} box={bbox} onChange={onChange} />
    </Stack>
  );
}

interface DaySliderProps {
  readonly days: readonly DayInfo[];
  readonly value: string | undefined;
  readonly onChange: (day: string | undefined) => void;
}

/** A slider over the days that have scenes in sight. */
function DaySlider({ days, value, onChange }: DaySliderProps) {
  const at = days.findIndex(({ day }) => day === value);
  const place = at < 0 ? days.length : at;
  const go = (to: number) => onChange(days[to]?.day);
  const chosen = days[place];
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500}>
          Day
        </Text>
        <Text size="sm" aria-live="polite">
          {value === undefined ? "Newest of all" : value}
          {chosen !== undefined && ` (${chosen.items} ${chosen.items === 1 ? "scene" : "scenes"})`}
          {value !== undefined && at < 0 && " (no scene in sight)"}
        </Text>
      </Group>
      <Group gap="xs" wrap="nowrap">
        <Button
          size="compact-sm"
          variant="default"
          aria-label="Earlier day"
          disabled={place <= 0 || days.length === 0}
          onClick={() => go(place - 1)}
        >
          <ChevronLeft size={16} aria-hidden />
        </Button>
        <input
          type="range"
          aria-label="Day"
          aria-valuetext={value ?? "Newest of all"}
          min={0}
          max={days.length}
          step={1}
          value={place}
          disabled={days.length === 0}
          style={{ flex: 1, minWidth: 0 }}
          onChange={({ currentTarget }) => go(Number(currentTarget.value))}
        />
        <Button
          size="compact-sm"
          variant="default"
          aria-label="Later day"
          disabled={place >= days.length}
          onClick={() => go(place + 1)}
        >
          <ChevronRight size={16} aria-hidden />
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        {days.length === 0
          ? "No scene in sight."
          : `${days.length} ${days.length === 1 ? "day" : "days"} with scenes in sight, ${days[0]?.day ?? ""} to ${days.at(-1)?.day ?? ""}`}
      </Text>
    </div>
  );
}
