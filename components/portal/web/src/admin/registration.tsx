import { Stack } from "@mantine/core";

import { Harvesters } from "./registration/harvesters.tsx";
import { Tasks } from "./registration/tasks.tsx";

/** What comes into the catalogue: harvesters, and what was accepted to be registered. */
export function Component() {
  return (
    <Stack gap="xl">
      <Harvesters />
      <Tasks />
    </Stack>
  );
}
