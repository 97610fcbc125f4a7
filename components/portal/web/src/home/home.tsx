import { SimpleGrid, Stack } from "@mantine/core";
import { Page } from "@swath/ui";

import { findHub } from "../api/hub.ts";
import { usePortal } from "../session/portal.ts";
import { LatestResults, LatestScenes } from "./latest-items.tsx";
import { LatestJobs } from "./latest-jobs.tsx";
import { MyWorkspaces } from "./my-workspaces.tsx";
import { Servers } from "./servers.tsx";
import { Services } from "./services.tsx";

/** What is new, what is mine, what runs, and what there is. */
export function Home() {
  const { user, config } = usePortal();
  const { services } = config;
  const hub = findHub(services);
  const hasCatalogue = services.includes("resource-catalogue");
  return (
    <Page title={`Hello, ${user.name?.split(" ")[0] ?? user.username}`} name="Home">
      <Stack gap="xl">
        {hasCatalogue && <LatestScenes />}
        {hasCatalogue && services.includes("ades") && <LatestResults />}
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xl">
          {services.includes("ades") && <LatestJobs />}
          <Stack gap="xl">
            {services.includes("workspace-api") && <MyWorkspaces />}
            {hub !== undefined && <Servers hub={hub} address={hubAddress(hub, config.access_token_domain)} />}
          </Stack>
        </SimpleGrid>
        <Services />
      </Stack>
    </Page>
  );
}

/** The hub's host beside the portal's. */
function hubAddress(hub: string, domain: string): string {
  const { port } = window.location;
  return `${window.location.protocol}//${hub}${domain}${port === "" ? "" : `:${port}`}/`;
}
