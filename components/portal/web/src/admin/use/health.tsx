import { Paper, Stack, Table, Text, Title } from "@mantine/core";
import { Awaited } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";

import { type HealthSample, readHealth } from "../../api/admin.ts";
import { listServices } from "../../api/services.ts";
import classes from "./bars.module.css";

/** Stretches that the samples of a day are drawn as. */
const STRETCHES = 96;

/** How each service did since the portal started, a day at most. */
export function ServiceHealth() {
  const health = useQuery({ queryKey: ["health-history"], queryFn: readHealth, refetchInterval: 60_000 });
  const services = useQuery({ queryKey: ["services"], queryFn: listServices });
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="health-title">
      <Title order={2} id="health-title" mb="xs">
        Health
      </Title>
      <Awaited query={health} what="Loading service health">
        {(found) => (
          <Stack gap="xs">
            <Text size="sm" c="dimmed">
              {Object.keys(found).length === 0
                ? "The portal has just started; the first samples come within a minute."
                : "Checked once a minute, in the last 24 hours or since the portal started."}
            </Text>
            <Table.ScrollContainer
              minWidth={480}
              type="native"
              tabIndex={0}
              role="region"
              aria-label="Health of the services"
            >
              <Table verticalSpacing={4}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Service</Table.Th>
                    <Table.Th>Available</Table.Th>
                    <Table.Th>Response</Table.Th>
                    <Table.Th w="45%">Over time</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {Object.entries(found).map(([id, samples]) => (
                    <Row
                      key={id}
                      title={services.data?.find((service) => service.id === id)?.title ?? id}
                      samples={samples}
                    />
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          </Stack>
        )}
      </Awaited>
    </Paper>
  );
}

function Row({ title, samples }: { readonly title: string; readonly samples: readonly HealthSample[] }) {
  const up = samples.filter((sample) => sample.up);
  const share = samples.length === 0 ? 1 : up.length / samples.length;
  const times = up.flatMap(({ ms }) => ms ?? []).toSorted((a, b) => a - b);
  const width = Math.max(1, Math.ceil(samples.length / STRETCHES));
  const stretches = Array.from({ length: Math.ceil(samples.length / width) }, (_, index) =>
    samples.slice(index * width, (index + 1) * width),
  );
  const before = Math.max(0, STRETCHES - stretches.length);
  return (
    <Table.Tr>
      <Table.Td>{title}</Table.Td>
      <Table.Td>{(share * 100).toFixed(share === 1 ? 0 : 2)} %</Table.Td>
      <Table.Td>{times.length === 0 ? "" : `${times[Math.floor(times.length / 2)]} ms`}</Table.Td>
      <Table.Td>
        <div className={classes["health"] ?? ""} aria-hidden>
          {before > 0 && <span className={classes["before"] ?? ""} style={{ flex: before }} />}
          {stretches.map((stretch) => (
            <span
              key={stretch[0]?.at}
              data-up={stretch.every((sample) => sample.up)}
              title={`${stretch[0]?.at.slice(0, 16)}: ${stretch.every((sample) => sample.up) ? "available" : "not available"}`}
            />
          ))}
        </div>
      </Table.Td>
    </Table.Tr>
  );
}
