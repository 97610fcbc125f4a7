import { Box, Progress, Text } from "@mantine/core";

import { formatBytes } from "./format.ts";

interface UsageProps {
  readonly used: number;
  /** Bytes that are allowed; without it only the number is shown. */
  readonly limit?: number | null | undefined;
  /** What is measured, for those who hear it: "Use of bucket maps". */
  readonly label: string;
}

/** How much of an amount is used. Turns amber at 80 % and red at 95 %. */
export function UsageBar({ used, limit, label }: UsageProps) {
  if (limit === undefined || limit === null) {
    return <Text size="sm">{formatBytes(used)}</Text>;
  }
  // A tenth of a percent is what the bar shows; 1.9e-7 would be no number to those who hear it.
  const share = limit === 0 ? 100 : Math.min(100, Math.round((used / limit) * 1000) / 10);
  const color = share >= 95 ? "red" : share >= 80 ? "yellow" : "teal";
  return (
    <Box maw={260}>
      <Text size="sm">
        {formatBytes(used)} of {formatBytes(limit)}
      </Text>
      <Progress.Root size="sm" mt={2}>
        <Progress.Section value={share} color={color} aria-label={label} />
      </Progress.Root>
    </Box>
  );
}
