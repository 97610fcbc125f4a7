import { realmPath } from "@swath/manifest/realm-paths";
import { Anchor, Card, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { Empty } from "@swath/ui";
import { ExternalLink, Users } from "lucide-react";

import { usePortal } from "../session/portal.ts";

/** Users, clients and rules are administered in the identity console; these are the ways there. */
export function Component() {
  const { config } = usePortal();
  const { identity_url: url, realm } = config;
  if (url === undefined || !["identity", "auth"].some((host) => config.services.includes(host))) {
    return (
      <Empty title="Another identity service" icon={Users}>
        Users and clients of this deployment are administered where its identity service is
        {url === undefined ? "." : `: ${url}`}
      </Empty>
    );
  }
  const at = (page: string) => `${url}/console${realmPath(realm)}/${page}`;
  const pages = [
    ["users", "Users", "Create users, give them roles, set passwords, disable them"],
    ["clients", "Clients", "Programs and services that ask for tokens, and what they protect"],
    ["roles", "Roles and groups", "Who has which role; the role admin makes an administrator"],
    ["sessions", "Sessions", "Who is logged in, and how to end it"],
    ["events", "Events", "Logins that worked and that did not; changes by administrators"],
    ["settings", "Settings", "Life-spans of tokens, rules for logins, keys"],
  ] as const;
  return (
    <Stack>
      <Text>Users and clients are administered in the identity console, with this same login.</Text>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} component="ul" p={0} m={0}>
        {pages.map(([page, title, about]) => (
          <Card key={page} component="li" withBorder style={{ listStyle: "none" }}>
            <Title order={2} size="h4">
              <Anchor href={at(page)} inherit>
                {title} <ExternalLink size={14} aria-hidden />
              </Anchor>
            </Title>
            <Text size="sm" c="dimmed">
              {about}
            </Text>
          </Card>
        ))}
      </SimpleGrid>
    </Stack>
  );
}
