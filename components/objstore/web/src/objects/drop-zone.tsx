import { Overlay, Text } from "@mantine/core";
import { notifyFailed } from "@swath/ui";
import { CloudUpload } from "lucide-react";
import { type DragEvent, type ReactNode, useRef, useState } from "react";

import { type PlacedFile, readDrop } from "../uploads/read-drop.ts";
import classes from "./drop-zone.module.css";

interface DropZoneProps {
  readonly label: string;
  readonly onDrop: (files: readonly PlacedFile[]) => void;
  readonly children: ReactNode;
}

/** Takes files and folders that are dropped anywhere on it. The buttons do the same for those who do not drag. */
export function DropZone({ label, onDrop, children }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  // Entering a child comes before leaving its parent.
  const depth = useRef(0);
  const hasFiles = (event: DragEvent) => event.dataTransfer.types.includes("Files");
  const enter = (event: DragEvent, step: number) => {
    if (hasFiles(event)) {
      event.preventDefault();
      depth.current += step;
      setOver(depth.current > 0);
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    depth.current = 0;
    setOver(false);
    readDrop(event.dataTransfer).then(onDrop, (error: unknown) => notifyFailed("The files could not be read", error));
  };
  return (
    <div
      className={classes.zone}
      onDragEnter={(event) => enter(event, 1)}
      onDragLeave={(event) => enter(event, -1)}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
    >
      {children}
      {isOver && (
        <Overlay
          color="var(--mantine-color-body)"
          backgroundOpacity={0.9}
          radius="md"
          zIndex={50}
          className={classes.over}
        >
          <CloudUpload size={48} strokeWidth={1.3} aria-hidden />
          <Text fw={600}>{label}</Text>
        </Overlay>
      )}
    </div>
  );
}
