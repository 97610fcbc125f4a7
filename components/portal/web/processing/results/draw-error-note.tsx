import { Alert } from "@mantine/core";

/** Why a raster is not on the map, if it is not. */
export function DrawErrorNote({ error }: { readonly error: Error | undefined }) {
  return (
    error !== undefined && (
      <Alert variant="light" color="red" role="alert" title="The raster is not on the map">
        {error.message}
      </Alert>
    )
  );
}
