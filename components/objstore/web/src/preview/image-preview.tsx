import { Image, Paper, Text } from "@mantine/core";
import { useState } from "react";

interface ImagePreviewProps {
  readonly url: string;
  readonly name: string;
}

/** A picture. An SVG drawn as a picture runs no script. */
export function ImagePreview({ url, name }: ImagePreviewProps) {
  const [isBroken, setBroken] = useState(false);
  return (
    <Paper withBorder p="sm">
      {isBroken ? (
        <Text c="dimmed">This browser cannot show the picture.</Text>
      ) : (
        <Image src={url} alt={`Preview of ${name}`} mah="70vh" fit="contain" onError={() => setBroken(true)} />
      )}
    </Paper>
  );
}
