import { Anchor, Badge, Card, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { Awaited } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";

import { type ServiceInfo, listServices } from "../api/services.ts";
import { usePortal } from "../session/portal.ts";
import { Section } from "./section.tsx";
import { type ServiceLink, toServiceLinks } from "./service-links.ts";

/** Every service with how it does at the moment, asked again every ten seconds. */
export function Services() {
  const { user, config } = usePortal();
  const services = useQuery({ queryKey: ["services"], queryFn: listServices, refetchInterval: 10_000 });
  return (
    <Section title="Services">
      <Awaited query={services} what="Loading service status">
        {(found) => (
          <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }} spacing="md" component="ul" p={0} m={0}>
            {toServiceLinks(found, config)
              .filter(({ admin }) => user.isAdmin || !admin)
              .map((service) => (
                <ServiceCard key={service.id} service={service} />
              ))}
          </SimpleGrid>
        )}
      </Awaited>
    </Section>
  );
}

function ServiceCard({ service }: { readonly service: ServiceLink }) {
  const { title, description, health, page, docs, url, isElsewhere = false } = service;
  return (
    <Card component="li" withBorder padding="md" style={{ listStyle: "none" }}>
      <Stack gap="xs" h="100%">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Title order={3} size="h4">
            {title}
          </Title>
          {!isElsewhere && <HealthBadge health={health} />}
        </Group>
        <Text size="sm" c="dimmed">
          {description}
        </Text>
        {health?.status === "down" && (
          <Text size="sm" role="status">
            {title} does not answer: {health.reason}.
          </Text>
        )}
        <Group gap="md" mt="auto" style={{ rowGap: 4 }}>
          {page !== undefined && (
            <Anchor href={page} size="sm" aria-label={`Open ${title}`}>
              Open
            </Anchor>
          )}
          {docs !== undefined && (
            <Anchor href={docs} size="sm" aria-label={`API docs of ${title}`}>
              API docs
            </Anchor>
          )}
          <Text size="xs" c="dimmed" w="100%" style={{ overflowWrap: "anywhere" }}>
            {new URL(page ?? docs ?? url).host}
          </Text>
        </Group>
      </Stack>
    </Card>
  );
}

function HealthBadge({ health }: Pick<ServiceInfo, "health">) {
  const isUp = health?.status === "up";
  return (
    <Badge
      variant="light"
      color={isUp ? "green" : "red"}
      title={isUp ? `answers in ${health.ms} ms` : undefined}
      style={{ flexShrink: 0 }}
    >
      {isUp ? "Up" : "Down"}
    </Badge>
  );
}
