import { SimpleGrid, Stack } from "@mantine/core";
import { Page } from "@swath/ui";

import { usePortal } from "../session/portal.ts";
import { LatestJobs } from "./latest-jobs.tsx";
import { MyWorkspaces } from "./my-workspaces.tsx";
import { Services } from "./services.tsx";

/** What is mine, what I did last, and what there is. */
export function Home() {
  const { user, config } = usePortal();
  return (
    <Page title={`Hello, ${user.name?.split(" ")[0] ?? user.username}`} name="Home">
      <Stack gap="xl">
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          {config.services.includes("workspace-api") && <MyWorkspaces />}
          {config.services.includes("ades") && <LatestJobs />}
        </SimpleGrid>
        <Services />
      </Stack>
    </Page>
  );
}
