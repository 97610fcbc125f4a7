import { Button, Grid, Stack, Text } from "@mantine/core";
import { Awaited, Empty, ErrorNote, Page, Part, RequestError, formatCount, formatPlural, lazyPart } from "@swath/ui";
import type { ItemPage } from "@swath/ui/stac";
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { SearchX } from "lucide-react";
import { useMemo, useState } from "react";
import { useSearchParams } from "react-router";

import { usePortal } from "../../src/session/portal.ts";
import { collectionsQuery, searchQuery, timesQuery } from "../api/catalogue.ts";
import {
  type SearchState,
  hasConditions,
  readSearchState,
  toConditions,
  toSearchBody,
  writeSearchState,
} from "../model/search-state.ts";
import { CopyAs } from "../parts/copy-as.tsx";
import { ResultList } from "../parts/result-list.tsx";
import { SearchFilters } from "../parts/search-filters.tsx";
import { Sections } from "../parts/sections.tsx";
import { TimeHistogram } from "../parts/time-histogram.tsx";

const SearchMap = lazyPart(async () => ({ default: (await import("../parts/search-map.tsx")).SearchMap }));

/** Finds items by area, time, collection, text and any property; the search is in the address. */
export function Component() {
  const { config } = usePortal();
  const [query, setQuery] = useSearchParams();
  const state = useMemo(() => readSearchState(query), [query]);
  const body = useMemo(() => toSearchBody(state), [state]);
  const conditions = useMemo(() => toConditions(state), [state]);
  const [selected, setSelected] = useState<string>();
  const collections = useQuery(collectionsQuery());
  const search = useInfiniteQuery({ ...searchQuery(body), placeholderData: keepPreviousData });
  const times = useQuery({ ...timesQuery(conditions), placeholderData: keepPreviousData });
  const change = (next: SearchState) => setQuery(writeSearchState(next));
  const items = useMemo(() => search.data?.pages.flatMap(({ features }) => features) ?? [], [search.data]);
  const filterError = findFilterError(search.error);
  const root = config.resource_catalogue_url?.replace(/\/+$/, "");
  return (
    <Page
      title="Catalogue"
      about="Scenes, results and services of the platform."
      actions={root !== undefined && <CopyAs root={root} body={body} />}
    >
      <Sections current="search" />
      <SearchFilters state={state} collections={collections.data ?? []} onChange={change} filterError={filterError} />
      {search.error !== null && filterError === undefined && (
        <ErrorNote error={search.error} title="The search failed" onRetry={() => void search.refetch()} />
      )}
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Awaited query={{ ...search, data: search.data?.pages[0], error: null }} what="Searching">
            {(first) =>
              items.length === 0 ? (
                <Empty title={hasConditions(state) ? "Nothing found" : "The catalogue is empty"} icon={SearchX}>
                  {hasConditions(state)
                    ? "No item fulfils all conditions. Take a larger area or a longer time."
                    : "Items appear here when they are registered or harvested, or when a job registers its results."}
                </Empty>
              ) : (
                <Stack gap="xs">
                  <Text size="sm" role="status">
                    {describeCount(first, items.length, search.hasNextPage)}
                  </Text>
                  <ResultList items={items} selected={selected} onSelect={setSelected} />
                  {search.hasNextPage && (
                    <Button
                      variant="default"
                      loading={search.isFetchingNextPage}
                      onClick={() => void search.fetchNextPage()}
                    >
                      Show more
                    </Button>
                  )}
                </Stack>
              )
            }
          </Awaited>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="sm">
            <Part what="the map">
              <SearchMap
                items={items}
                selected={selected}
                onSelect={setSelected}
                box={state.box}
                onBox={(bbox) => {
                  const { box: _, ...rest } = state;
                  change(bbox === undefined ? rest : { ...rest, box: bbox });
                }}
              />
            </Part>
            {times.data !== undefined && times.data.length > 0 && (
              <TimeHistogram buckets={times.data} onMonth={(from, to) => change({ ...state, from, to })} />
            )}
          </Stack>
        </Grid.Col>
      </Grid>
    </Page>
  );
}

/** The service counts up to a limit; the first page says how many there are at least. */
function describeCount({ numberMatched }: ItemPage, shown: number, hasMore: boolean): string {
  if (numberMatched === undefined) {
    return hasMore ? `The first ${formatCount(shown)} results` : formatPlural(shown, "result");
  }
  return shown < numberMatched
    ? `${formatCount(shown)} of ${formatCount(numberMatched)} results`
    : formatPlural(numberMatched, "result");
}

/** A condition that cannot be understood is shown at its field. */
function findFilterError(error: unknown): string | undefined {
  return error instanceof RequestError && error.status === 400 && /filter|cql/i.test(error.message)
    ? error.message
    : undefined;
}
