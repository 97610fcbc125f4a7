import { Stack } from "@mantine/core";
import { Awaited, formatBytes } from "@swath/ui";
import { useMemo } from "react";

import { FootprintMap } from "./footprint-map.tsx";
import { type Footprint, findFootprints } from "./find-footprints.ts";
import { formatJson } from "./format-json.ts";
import { TextBlock } from "./text-preview.tsx";
import { type TextSource, useText } from "./use-text.ts";

const LIMIT = 1024 * 1024;

/** JSON in order, and on a map where it is about places (GeoJSON, STAC). */
// oxlint-disable-next-line import/no-default-export -- React.lazy takes nothing else
export default function JsonPreview(source: TextSource) {
  const { size } = source;
  const start = useText(source, LIMIT);
  return (
    <Awaited query={start} what="Loading the text">
      {({ text, isCut }) => <Json text={text} isCut={isCut} size={size} />}
    </Awaited>
  );
}

function Json({ text, isCut, size }: { readonly text: string; readonly isCut: boolean; readonly size: number }) {
  const { shown, footprints, note } = useMemo(() => {
    if (isCut) {
      return { shown: text, footprints: [], note: `The first ${formatBytes(LIMIT)} of ${formatBytes(size)}.` };
    }
    try {
      const value: unknown = JSON.parse(text);
      return { shown: formatJson(value), footprints: findFootprints(value), note: undefined };
    } catch (error) {
      const none: readonly Footprint[] = [];
      return { shown: text, footprints: none, note: `This is not valid JSON: ${(error as Error).message}` };
    }
  }, [text, isCut, size]);
  return (
    <Stack>
      {footprints.length > 0 && <FootprintMap footprints={footprints} />}
      <TextBlock text={shown} {...(note !== undefined && { note })} />
    </Stack>
  );
}
