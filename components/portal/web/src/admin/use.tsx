import { Group, NumberInput, Paper, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { Awaited, type Column, DataTable, Empty, formatBytes } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useSearchParams } from "react-router";

import { readUse } from "../api/use.ts";
import { usePortal } from "../session/portal.ts";
import { Bars } from "./use/bars.tsx";
import { ServiceHealth } from "./use/health.tsx";
import { type Rates, type UserUse, costOf, listDays } from "./use/summarize-use.ts";

const STRETCHES = ["7", "30", "90"];

/** How the services do, and what every user uses, day by day, with its cost. Stretch and rates are in the address. */
export function Component() {
  const { config } = usePortal();
  const [search, setSearch] = useSearchParams();
  const stretch = STRETCHES.find((days) => days === search.get("days")) ?? "30";
  const rates: Rates = { hour: readRate(search, "hour"), gib: readRate(search, "gib") };
  const [now] = useState(Date.now);
  const days = useMemo(() => listDays(Number(stretch), now), [stretch, now]);
  const use = useQuery({
    queryKey: ["use", days],
    queryFn: () => readUse(days, config.services),
    staleTime: 30_000,
  });
  const change = (name: string, value: string) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        next.set(name, value);
        return next;
      },
      { replace: true },
    );
  return (
    <Stack gap="lg">
      <ServiceHealth />
      <Paper withBorder p="md" component="section" aria-labelledby="use-title">
        <Stack>
          <Group justify="space-between">
            <Title order={2} id="use-title">
              Use
            </Title>
            <SegmentedControl
              aria-label="Days"
              data={STRETCHES.map((value) => ({ value, label: `${value} days` }))}
              value={stretch}
              onChange={(value) => change("days", value)}
            />
          </Group>
          <Group align="flex-end">
            <NumberInput
              label="Rate per processing hour"
              min={0}
              step={0.01}
              value={rates.hour}
              onChange={(value) => change("hour", String(value))}
              w={220}
            />
            <NumberInput
              label="Rate per GiB and 30 days"
              min={0}
              step={0.01}
              value={rates.gib}
              onChange={(value) => change("gib", String(value))}
              w={220}
            />
          </Group>
          <Awaited query={use} what="Loading use">
            {(found) =>
              found.length === 0 ? (
                <Empty title="No use yet">Users appear here when they have a workspace or run jobs.</Empty>
              ) : (
                <Stack>
                  <Bars
                    label="Processing hours a day"
                    days={days}
                    values={days.map((_, index) => found.reduce((sum, { daily }) => sum + (daily[index] ?? 0), 0))}
                    format={(value) => `${value.toFixed(2)} h`}
                  />
                  <UseTable use={found} rates={rates} />
                  <Text size="xs" c="dimmed">
                    Hours in which jobs ran; storage as it is now, for the whole stretch. The rates are yours: the
                    address of this page keeps them.
                  </Text>
                </Stack>
              )
            }
          </Awaited>
        </Stack>
      </Paper>
    </Stack>
  );
}

function readRate(search: URLSearchParams, name: string): number {
  const rate = Number(search.get(name) ?? 0);
  return Number.isFinite(rate) && rate >= 0 ? rate : 0;
}

function UseTable({ use, rates }: { readonly use: readonly UserUse[]; readonly rates: Rates }) {
  const { hour, gib } = rates;
  const columns = useMemo((): readonly Column<UserUse>[] => {
    const number = (
      key: string,
      header: string,
      valueOf: (row: UserUse) => number,
      format: (value: number) => string,
      hideBelow?: "sm" | "md",
    ): Column<UserUse> => ({
      key,
      header,
      // Two of them and a name fit a phone.
      width: "6.5rem",
      align: "end",
      sortBy: valueOf,
      render: (row) => format(valueOf(row)),
      ...(hideBelow && { hideBelow }),
    });
    return [
      { key: "user", header: "User", sortBy: ({ username }) => username, render: ({ username }) => username },
      {
        key: "days",
        header: "Hours a day",
        width: "22%",
        hideBelow: "md",
        render: ({ daily }) => <Spark values={daily} />,
      },
      number("jobs", "Jobs", ({ jobs }) => jobs, String, "sm"),
      number("failed", "Failed", ({ failed }) => failed, String, "sm"),
      number(
        "hours",
        "Processing",
        ({ hours }) => hours,
        (value) => `${value.toFixed(2)} h`,
      ),
      number("storage", "Storage", ({ bytes }) => bytes, formatBytes, "sm"),
      number(
        "cost",
        "Cost",
        (row) => costOf(row, { hour, gib }),
        (value) => value.toFixed(2),
      ),
    ];
  }, [hour, gib]);
  return (
    <DataTable
      label="Use by user"
      rows={use}
      rowKey={({ username }) => username}
      columns={columns}
      initialSort={{ column: "hours", direction: "descending" }}
    />
  );
}

const SPARK_HEIGHT = 20;

function Spark({ values }: { readonly values: readonly number[] }) {
  const most = Math.max(...values, 1e-9);
  const points = values.map((value, index) => `${index},${SPARK_HEIGHT - (value / most) * (SPARK_HEIGHT - 2) - 1}`);
  return (
    <svg
      viewBox={`0 0 ${Math.max(1, values.length - 1)} ${SPARK_HEIGHT}`}
      preserveAspectRatio="none"
      width="100%"
      height={SPARK_HEIGHT}
      aria-hidden
    >
      <polyline
        points={points.join(" ")}
        fill="none"
        stroke="var(--swath-accent)"
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
