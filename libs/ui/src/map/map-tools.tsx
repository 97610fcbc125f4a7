import { ActionIcon, Menu, Popover, Stack, TextInput, Tooltip, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Layers, Search } from "lucide-react";
import type OlMap from "ol/Map.js";
import { fromLonLat } from "ol/proj.js";
import { type FormEvent, use, useState } from "react";

import { type BaseMapOption, BaseMapsContext } from "../base-maps.ts";
import { type Place, findPlaces, loadPlaces } from "./places.ts";

/** What is always there: the product's own map, with names and without. */
const OWN = [
  { id: "map", title: "Map with names" },
  { id: "plain", title: "Plain" },
] as const;

const KEY = "swath-base-map";

/** The chosen base map, the same on every map until another is chosen. */
export function useBaseMap(): readonly [BaseMapOption, (chosen: BaseMapOption) => void] {
  const [chosen, setChosen] = useState(readChoice);
  return [
    chosen,
    (next) => {
      setChosen(next);
      try {
        localStorage.setItem(KEY, JSON.stringify(next));
      } catch {
        // Without storage the choice is for this map alone.
      }
    },
  ];
}

const DEFAULT: BaseMapOption = { id: "map", title: "Map with names", url: "" };

function readChoice(): BaseMapOption {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "null") as Partial<BaseMapOption> | null;
    return typeof kept?.id === "string" && typeof kept.url === "string"
      ? { title: kept.id, ...kept, id: kept.id, url: kept.url }
      : DEFAULT;
  } catch {
    return DEFAULT;
  }
}

interface MapToolsProps {
  readonly map: OlMap | undefined;
  readonly baseMap: BaseMapOption;
  readonly onBaseMap: (chosen: BaseMapOption) => void;
}

/** At the corner of every map: the way to a place, and the choice of base map. */
export function MapTools({ map, baseMap, onBaseMap }: MapToolsProps) {
  const { list } = use(BaseMapsContext);
  const [opened, setOpened] = useState(false);
  const others = useQuery({ queryKey: ["base-maps"], queryFn: list, enabled: opened, staleTime: 60_000 });
  const options: readonly BaseMapOption[] = [...OWN.map((own) => ({ ...own, url: "" })), ...(others.data ?? [])];
  const choose = (id: string) => {
    const option = options.find((each) => each.id === id);
    if (option !== undefined) {
      onBaseMap(option);
    }
  };
  return (
    <div className="swath-map-tools">
      <PlaceSearch map={map} />
      <Menu opened={opened} onChange={setOpened} position="bottom-end" withinPortal>
        <Menu.Target>
          <Tooltip label="Base map" disabled={opened}>
            <ActionIcon variant="default" size={34} aria-label="Base map">
              <Layers size={18} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </Menu.Target>
        <Menu.Dropdown mah={320} style={{ overflowY: "auto" }}>
          <Menu.RadioGroup value={baseMap.id} onChange={choose}>
            {options.map(({ id, title }) => (
              <Menu.RadioItem key={id} value={id} closeMenuOnClick>
                {title}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

const SHOWN = 6;

function PlaceSearch({ map }: { readonly map: OlMap | undefined }) {
  const [opened, setOpened] = useState(false);
  const [text, setText] = useState("");
  const places = useQuery({
    queryKey: ["places"],
    queryFn: loadPlaces,
    enabled: opened,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const found = findPlaces(places.data ?? [], text, SHOWN);
  const go = (place: Place | undefined) => {
    if (place !== undefined) {
      map?.getView().animate({
        center: fromLonLat([place.longitude, place.latitude]),
        zoom: place.rank < 1000 ? 10 : 12,
        duration: 400,
      });
      setOpened(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    go(found[0]);
  };
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-end" width={260} trapFocus withinPortal>
      <Popover.Target>
        <Tooltip label="Find a place" disabled={opened}>
          <ActionIcon variant="default" size={34} aria-label="Find a place" onClick={() => setOpened(!opened)}>
            <Search size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown p="xs">
        <form onSubmit={submit}>
          <TextInput
            aria-label="Place, or latitude and longitude"
            placeholder="Town, or 51.2, 5.3"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            data-autofocus
            autoComplete="off"
            spellCheck={false}
          />
        </form>
        <Stack gap={0} mt={4} role="list" aria-label="Places">
          {found.map((place) => (
            <div key={`${place.rank} ${place.name}`} role="listitem">
              <UnstyledButton className="swath-map-place" onClick={() => go(place)}>
                {place.name}
                <small>{place.country}</small>
              </UnstyledButton>
            </div>
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
