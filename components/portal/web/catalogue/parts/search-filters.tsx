import { Button, Group, MultiSelect, NumberInput, Paper, Select, Stack, TextInput } from "@mantine/core";
import type { StacContainer } from "@swath/ui/stac";
import { RotateCcw, Search } from "lucide-react";
import { type FormEvent, useState } from "react";

import { formatBox, parseBox } from "../../processing/model/areas.ts";
import { SORTS, type SearchState, type Sort, hasConditions } from "../model/search-state.ts";

interface SearchFiltersProps {
  readonly state: SearchState;
  readonly collections: readonly StacContainer[];
  readonly onChange: (state: SearchState) => void;
  /** What the service says of the condition. */
  readonly filterError: string | undefined;
}

const EMPTY: SearchState = { text: "", collections: [], filter: "", sort: "newest" };

/** Conditions of a search. Texts count when Search is pressed or Enter, choices at once. */
export function SearchFilters({ state, collections, onChange, filterError }: SearchFiltersProps) {
  const [text, setText] = useState(state.text);
  const [filter, setFilter] = useState(state.filter);
  const [area, setArea] = useState(state.box === undefined ? "" : formatBox(state.box));
  const [known, setKnown] = useState(state);
  if (known !== state) {
    // The address changed: a drawn area, a link, the browser's back button.
    setKnown(state);
    setText(state.text);
    setFilter(state.filter);
    setArea(state.box === undefined ? "" : formatBox(state.box));
  }
  const bbox = area.trim() === "" ? undefined : parseBox(area);
  const isAreaWrong = area.trim() !== "" && bbox === undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isAreaWrong) {
      const { box: _, ...rest } = state;
      onChange({ ...rest, ...(bbox !== undefined && { box: bbox }), text, filter });
    }
  };
  const setDay = (end: "from" | "to", day: string) => {
    const { [end]: _, ...rest } = state;
    onChange(day === "" ? rest : { ...rest, [end]: day });
  };
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit} aria-label="Conditions">
      <Stack gap="sm">
        <Group gap="sm" align="flex-end" wrap="wrap">
          <TextInput
            label="Text"
            placeholder="Words of title, description, keywords"
            flex="2 1 14rem"
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
          <MultiSelect
            label="Collections"
            placeholder={state.collections.length === 0 ? "All" : ""}
            flex="2 1 14rem"
            searchable
            clearable
            data={collections.map(({ id, title }) => ({ value: id, label: title ?? id }))}
            value={[...state.collections]}
            onChange={(chosen) => onChange({ ...state, collections: chosen })}
          />
          <TextInput
            label="From"
            type="date"
            value={state.from ?? ""}
            onChange={({ currentTarget }) => setDay("from", currentTarget.value)}
          />
          <TextInput
            label="To"
            type="date"
            value={state.to ?? ""}
            onChange={({ currentTarget }) => setDay("to", currentTarget.value)}
          />
          <NumberInput
            label="Max. clouds (%)"
            w="8rem"
            min={0}
            max={100}
            value={state.clouds ?? ""}
            onChange={(value) => {
              const { clouds: _, ...rest } = state;
              onChange(typeof value === "number" ? { ...rest, clouds: value } : rest);
            }}
          />
        </Group>
        <Group gap="sm" align="flex-end" wrap="wrap">
          <TextInput
            label="Area"
            placeholder="west,south,east,north"
            flex="1 1 14rem"
            value={area}
            error={isAreaWrong ? "Four numbers: west,south,east,north in degrees" : undefined}
            onChange={({ currentTarget }) => setArea(currentTarget.value)}
          />
          <TextInput
            label="Condition (CQL2)"
            placeholder={'"view:off_nadir" < 10'}
            flex="2 1 16rem"
            value={filter}
            error={filterError}
            onChange={({ currentTarget }) => setFilter(currentTarget.value)}
          />
          <Select
            label="Order"
            w="13rem"
            allowDeselect={false}
            data={Object.entries(SORTS).map(([value, { label }]) => ({ value, label }))}
            value={state.sort}
            onChange={(sort) => onChange({ ...state, sort: (sort ?? "newest") as Sort })}
          />
          <Button type="submit" leftSection={<Search size={16} aria-hidden />}>
            Search
          </Button>
          <Button
            variant="default"
            leftSection={<RotateCcw size={16} aria-hidden />}
            disabled={!hasConditions(state)}
            onClick={() => onChange(EMPTY)}
          >
            Clear
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}
