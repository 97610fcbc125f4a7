import { Group, Text } from "@mantine/core";

import { COLOURS } from "./chart-parts.ts";

/** Which colour of a chart is which band, with a value of each where there are some. */
export function BandLegend({
  bands,
  values,
}: {
  readonly bands: readonly string[];
  readonly values?: readonly string[];
}) {
  return (
    <Group gap="md">
      {bands.map((band, index) => (
        <Group key={band} gap={4} wrap="nowrap">
          <span style={{ width: 12, height: 3, background: COLOURS[index] }} aria-hidden />
          <Text size="xs">{values === undefined ? band : `${band}: ${values[index] ?? "–"}`}</Text>
        </Group>
      ))}
    </Group>
  );
}
