import { Stack } from "@mantine/core";

import { useThisProject } from "../projects/use-project.ts";
import { ImmutableRules } from "./immutable-rules.tsx";
import { Retention } from "./retention.tsx";
import { Webhooks } from "./webhooks.tsx";

/** Rules of a project: what is kept, which tags stay as they are, and who is told. */
export function Component() {
  const project = useThisProject();
  return (
    <Stack>
      <Retention project={project} />
      <ImmutableRules project={project.name} />
      <Webhooks project={project.name} />
    </Stack>
  );
}
