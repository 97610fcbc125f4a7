import { Paper, ScrollArea, Text } from "@mantine/core";
import { Awaited, formatBytes } from "@swath/ui";

import classes from "./text-preview.module.css";
import { type TextSource, useText } from "./use-text.ts";

const LIMIT = 256 * 1024;

/** The beginning of a text. */
export function TextPreview(source: TextSource) {
  const { size } = source;
  const start = useText(source, LIMIT);
  return (
    <Awaited query={start} what="Loading the text">
      {({ text, isCut }) => (
        <TextBlock text={text} {...(isCut && { note: `The first ${formatBytes(LIMIT)} of ${formatBytes(size)}.` })} />
      )}
    </Awaited>
  );
}

interface TextBlockProps {
  readonly text: string;
  readonly note?: string;
}

export function TextBlock({ text, note }: TextBlockProps) {
  return (
    <Paper withBorder>
      <ScrollArea.Autosize
        mah="70vh"
        viewportProps={{ tabIndex: 0, role: "region", "aria-label": "Text of the object" }}
      >
        <pre className={classes.text}>{text}</pre>
      </ScrollArea.Autosize>
      {note !== undefined && (
        <Text size="sm" c="dimmed" px="md" pb="sm">
          {note}
        </Text>
      )}
    </Paper>
  );
}
