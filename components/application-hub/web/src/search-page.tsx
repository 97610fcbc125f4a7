import { Button, Group, Paper, Stack, Text, TextInput } from "@mantine/core";
import { ErrorNote, Loading, Page, formatCount } from "@swath/ui";
import type { ItemPage } from "@swath/ui/stac";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useSearchParams } from "react-router";

import { ItemList } from "./item-list.tsx";
import { findCatalogue, readJson } from "./platform.ts";
import { linksOf, parseBox } from "./stac.ts";

const LIMIT = 20;

interface PageRequest {
  readonly address: string;
  readonly method: "GET" | "POST";
  readonly body?: unknown;
}

/** Searches a STAC API by collection, area and time; the conditions are in the address. */
export function Component() {
  const [params, setParams] = useSearchParams();
  const start = useQuery({ queryKey: ["catalogue"], queryFn: findCatalogue, enabled: !params.has("api") });
  const api = params.get("api") ?? start.data;
  return (
    <Page title="Search" about={api}>
      {start.error !== null && <ErrorNote error={start.error} />}
      <Conditions
        key={params.toString()}
        params={params}
        onSearch={(provided) => setParams({ ...(params.has("api") && { api: params.get("api") ?? "" }), ...provided })}
      />
      {api !== undefined && <Results api={api} params={params} />}
    </Page>
  );
}

interface ConditionsProps {
  readonly params: URLSearchParams;
  readonly onSearch: (provided: Readonly<Record<string, string>>) => void;
}

function Conditions({ params, onSearch }: ConditionsProps) {
  const [values, setValues] = useState({
    collection: params.get("collection") ?? "",
    bbox: params.get("bbox") ?? "",
    from: params.get("from") ?? "",
    to: params.get("to") ?? "",
  });
  const isAreaWrong = values.bbox !== "" && parseBox(values.bbox) === undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isAreaWrong) {
      onSearch(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "")));
    }
  };
  const bind = (name: keyof typeof values) => ({
    value: values[name],
    onChange: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => {
      const { value } = currentTarget;
      setValues((before) => ({ ...before, [name]: value }));
    },
  });
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit} aria-label="Conditions">
      <Group gap="sm" align="flex-end" wrap="wrap">
        <TextInput
          label="Collections"
          placeholder="All; several with commas"
          flex="1 1 12rem"
          {...bind("collection")}
        />
        <TextInput
          label="Area"
          placeholder="west,south,east,north"
          flex="1 1 12rem"
          error={isAreaWrong ? "Four numbers: west,south,east,north in degrees" : undefined}
          {...bind("bbox")}
        />
        <TextInput label="From" type="date" {...bind("from")} />
        <TextInput label="To" type="date" {...bind("to")} />
        <Button type="submit" leftSection={<Search size={16} aria-hidden />}>
          Search
        </Button>
      </Group>
    </Paper>
  );
}

function Results({ api, params }: { readonly api: string; readonly params: URLSearchParams }) {
  const first = toRequest(api, params);
  const pages = useInfiniteQuery({
    queryKey: ["search", first],
    queryFn: ({ pageParam: { address, method, body }, signal }) =>
      readJson<ItemPage>(address, { method, body, signal }),
    initialPageParam: first,
    getNextPageParam: (page): PageRequest | undefined => {
      const [next] = linksOf(page, first.address, "next");
      return (
        next && {
          address: next.href,
          method: next.method?.toUpperCase() === "POST" ? "POST" : "GET",
          ...(next.body !== undefined && { body: next.body }),
        }
      );
    },
  });
  const items = pages.data?.pages.flatMap(({ features }) => features) ?? [];
  const matched = pages.data?.pages[0]?.numberMatched;
  return (
    <Stack>
      <Text size="sm" c="dimmed" role="status">
        {pages.isSuccess
          ? `${formatCount(items.length)}${matched === undefined ? "" : ` of ${formatCount(matched)}`} items`
          : ""}
      </Text>
      {pages.error !== null && <ErrorNote error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isPending && <Loading what="Searching" />}
      <ItemList items={items.map((item) => ({ item, address: `${api}/collections/${item.collection}/` }))} />
      {pages.hasNextPage && (
        <Group>
          <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            Show more
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** A search by GET, which every STAC API knows. */
function toRequest(api: string, params: URLSearchParams): PageRequest {
  const [from, to] = [params.get("from"), params.get("to")];
  const time = from === null && to === null ? undefined : `${toTime(from, "00:00:00")}/${toTime(to, "23:59:59")}`;
  const query = new URLSearchParams({
    limit: String(LIMIT),
    ...(params.has("collection") && { collections: params.get("collection") ?? "" }),
    ...(params.has("bbox") && { bbox: params.get("bbox") ?? "" }),
    ...(time !== undefined && { datetime: time }),
  });
  return { address: `${api.replace(/\/$/, "")}/search?${query}`, method: "GET" };
}

const toTime = (day: string | null, time: string): string => (day === null ? ".." : `${day}T${time}Z`);
