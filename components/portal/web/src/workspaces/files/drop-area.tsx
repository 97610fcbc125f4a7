import { type DragEvent, type ReactNode, useState } from "react";

import classes from "./drop-area.module.css";

interface DropAreaProps {
  /** Left out for those who may not write. */
  readonly onDrop: ((files: File[]) => void) | undefined;
  readonly children: ReactNode;
}

/** Takes files that are dropped on it; the button beside does the same without a mouse. */
export function DropArea({ onDrop, children }: DropAreaProps) {
  const [depth, setDepth] = useState(0);
  const hasFiles = (event: DragEvent) => onDrop !== undefined && event.dataTransfer.types.includes("Files");
  return (
    <div
      className={classes.area}
      data-over={depth > 0 || undefined}
      onDragEnter={(event) => {
        if (hasFiles(event)) {
          event.preventDefault();
          setDepth((before) => before + 1);
        }
      }}
      onDragOver={(event) => {
        if (hasFiles(event)) {
          event.preventDefault();
        }
      }}
      onDragLeave={() => setDepth((before) => Math.max(0, before - 1))}
      onDrop={(event) => {
        if (hasFiles(event)) {
          event.preventDefault();
          setDepth(0);
          onDrop?.([...event.dataTransfer.files]);
        }
      }}
    >
      {children}
    </div>
  );
}
