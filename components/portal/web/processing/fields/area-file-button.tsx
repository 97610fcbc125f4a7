import { Button, FileButton } from "@mantine/core";
import { notifyFailed } from "@swath/ui";
import { FileUp } from "lucide-react";

import { MAX_AREA_FILE_BYTES, parseAreaFile } from "../model/area-files.ts";
import type { Polygon } from "../model/areas.ts";

/** Takes an area from a file of the user's own machine; nothing is sent. */
export function AreaFileButton({ onArea }: { readonly onArea: (area: Polygon) => void }) {
  const read = async (file: File | null) => {
    if (file === null) {
      return;
    }
    try {
      if (file.size > MAX_AREA_FILE_BYTES) {
        throw new Error(`${file.name} is larger than ${MAX_AREA_FILE_BYTES / 1024 / 1024} MiB.`);
      }
      onArea(parseAreaFile(file.name, await file.text()));
    } catch (error) {
      notifyFailed("The file was not read", error);
    }
  };
  return (
    <FileButton
      accept=".geojson,.json,.kml"
      onChange={(file) => void read(file)}
      inputProps={{ "aria-label": "GeoJSON or KML file" }}
    >
      {(props) => (
        <Button {...props} size="xs" variant="default" leftSection={<FileUp size={14} aria-hidden />}>
          GeoJSON or KML
        </Button>
      )}
    </FileButton>
  );
}
