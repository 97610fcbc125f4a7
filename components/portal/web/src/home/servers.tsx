import { Anchor, Badge, Button, Card, Group, Text } from "@mantine/core";
import { Awaited, Empty, RelativeTime } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { SquareTerminal } from "lucide-react";

import { type HubServer, listServers } from "../api/hub.ts";
import type { HubId } from "../api/services.ts";
import { Section } from "./section.tsx";

/** Notebooks and other applications that run, or can be started again. */
export function Servers({ hub, address }: { readonly hub: HubId; readonly address: string }) {
  const servers = useQuery({
    queryKey: ["servers", hub],
    queryFn: () => listServers(hub),
    refetchInterval: ({ state: { data } }) => (data?.some(({ pending }) => pending !== null) ? 2000 : 15_000),
  });
  return (
    <Section
      title="My servers"
      aside={
        <Anchor href={address} size="sm">
          Application hub
        </Anchor>
      }
    >
      <Awaited query={servers} what="Loading servers">
        {(found) =>
          found.length === 0 ? (
            <Empty
              compact
              title="No servers yet"
              icon={SquareTerminal}
              action={
                <Button component="a" href={address} variant="default">
                  Start a notebook
                </Button>
              }
            >
              Notebooks and editors beside the data.
            </Empty>
          ) : (
            <Card withBorder padding={0} component="ul" m={0}>
              {found.map((server) => (
                <ServerRow key={server.name} server={server} />
              ))}
            </Card>
          )
        }
      </Awaited>
    </Section>
  );
}

function ServerRow({ server }: { readonly server: HubServer }) {
  const { name, ready, pending, started, swath, full_url: url, user_options: options } = server;
  const title = options.profile ?? (name === "" ? "Server" : name);
  const state = pending === "spawn" ? "Starting" : pending === "stop" ? "Stopping" : ready ? "Running" : "Stopped";
  return (
    <Card.Section component="li" withBorder inheritPadding py="xs" px="md" m={0} style={{ listStyle: "none" }}>
      <Group justify="space-between" wrap="nowrap">
        {ready ? (
          <Anchor href={swath?.opens ?? url} truncate>
            {title}
          </Anchor>
        ) : (
          <Text truncate>{title}</Text>
        )}
        <Badge variant="light" color={ready ? "green" : "gray"} style={{ flexShrink: 0 }}>
          {state}
        </Badge>
      </Group>
      <Text size="xs" c="dimmed">
        {name !== "" && name !== title && `${name}, `}
        {started !== null && (
          <>
            started <RelativeTime time={started} />
          </>
        )}
      </Text>
    </Card.Section>
  );
}
