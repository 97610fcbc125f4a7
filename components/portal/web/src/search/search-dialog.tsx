import { Loader, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQueries } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";

import { usePortal } from "../session/portal.ts";
import classes from "./search.module.css";
import type { Hit } from "./hit.ts";
import { createSources } from "./sources.ts";

/** Finds scenes, processes, jobs, files, pages and documentation; arrow keys choose, Enter opens. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const { user, config } = usePortal();
  const navigate = useNavigate();
  const list = useId();
  const [text, setText] = useState("");
  const [settled] = useDebouncedValue(text.trim(), 200);
  const [chosen, setChosen] = useState(0);
  const sources = useMemo(() => createSources(user, config), [user, config]);
  const found = useQueries({
    queries: sources.map(({ id, find }) => ({
      queryKey: ["search-everywhere", user.username, id, settled],
      queryFn: ({ signal }: { signal: AbortSignal }) => find(settled, signal),
      enabled: settled !== "",
      staleTime: 15_000,
      retry: false,
    })),
  });
  const groups = sources.flatMap(({ id, title, all }, index) => {
    const { data, error } = found[index] ?? {};
    const hits = data ?? [];
    const more: readonly Hit[] =
      all === undefined || hits.length === 0
        ? []
        : [{ title: `All in ${title.toLowerCase()}`, about: "", to: all(settled) }];
    return hits.length === 0 && !error ? [] : [{ id, title, hits: [...hits, ...more], error }];
  });
  const hits = groups.flatMap((group) => group.hits);
  const at = Math.min(chosen, hits.length - 1);
  const isBusy = settled !== "" && found.some(({ isFetching }) => isFetching);
  const open = (hit: Hit | undefined) => {
    if (hit === undefined) {
      return;
    }
    onClose();
    if (hit.isElsewhere === true) {
      window.location.assign(hit.to);
    } else {
      void navigate(hit.to);
    }
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && hits.length > 0) {
      event.preventDefault();
      setChosen((at + step + hits.length) % hits.length);
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      open(hits[at]);
    }
  };
  let counted = 0;
  return (
    <Modal
      opened
      onClose={onClose}
      title="Search"
      size="lg"
      yOffset="8vh"
      centered={false}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack gap="sm">
        <TextInput
          aria-label="Search everything"
          placeholder="Scenes, processes, jobs, files, documentation"
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={press}
          leftSection={<Search size={16} aria-hidden />}
          rightSection={isBusy && <Loader size="xs" />}
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          role="combobox"
          aria-expanded={hits.length > 0}
          aria-controls={list}
          aria-activedescendant={hits.length > 0 ? `${list}-${at}` : undefined}
        />
        <Text size="sm" c="dimmed" role="status">
          {settled === ""
            ? "Type a part of a name. Arrow keys choose, Enter opens."
            : isBusy
              ? "Searching"
              : hits.length === 0 && "Nothing found."}
        </Text>
        <div id={list} role="listbox" aria-label="Found" className={classes["list"] ?? ""}>
          {groups.map(({ id, title, hits: own, error }) => (
            <div key={id} role="group" aria-label={title}>
              <Text size="xs" fw={600} c="dimmed" px={10} pt={6} aria-hidden>
                {title}
              </Text>
              {error && (
                <Text size="xs" c="var(--mantine-color-error)" px={10} role="alert">
                  {error.message}
                </Text>
              )}
              {own.map((hit) => {
                const index = counted++;
                return (
                  <Option
                    key={`${hit.to} ${index}`}
                    id={`${list}-${index}`}
                    hit={hit}
                    isChosen={index === at}
                    onPoint={() => setChosen(index)}
                    onOpen={() => open(hit)}
                  />
                );
              })}
            </div>
          ))}
        </div>
      </Stack>
    </Modal>
  );
}

interface OptionProps {
  readonly id: string;
  readonly hit: Hit;
  readonly isChosen: boolean;
  readonly onPoint: () => void;
  readonly onOpen: () => void;
}

function Option({ id, hit: { title, about }, isChosen, onPoint, onOpen }: OptionProps) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) {
      element.current?.scrollIntoView({ block: "nearest" });
    }
  }, [isChosen]);
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the field has the focus and the keys
    <div
      ref={element}
      id={id}
      role="option"
      aria-selected={isChosen}
      className={classes["hit"] ?? ""}
      onMouseMove={onPoint}
      onClick={onOpen}
    >
      <span className={classes["title"] ?? ""}>{title}</span>
      <span className={classes["about"] ?? ""}>{about}</span>
    </div>
  );
}
