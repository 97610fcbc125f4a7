import { Fieldset, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { Loading } from "@swath/ui";
import { Suspense, lazy, useMemo } from "react";

import { type Box, boxOf, findBoxProblem, roundBox, toPolygon } from "../model/areas.ts";
import { type BoxDraft, EMPTY_BOX, toBoxText } from "../model/form-values.ts";
import { useForm } from "./form-context.ts";
import type { KindInputProps } from "./kind-input-props.ts";

const AreaMap = lazy(async () => ({ default: (await import("./area-map.tsx")).AreaMap }));
const SIDES = ["West", "South", "East", "North"] as const;

interface BoxInputProps extends Omit<KindInputProps, "kind" | "draft"> {
  readonly draft: BoxDraft;
}

/** A bounding box: drawn on a map, or typed. */
export function BoxInput({ label, description, isRequired, path, draft, onChange }: BoxInputProps) {
  const error = useForm().errorAt(path);
  const key = draft.join(" ");
  const polygon = useMemo(() => {
    const box = key.split(" ").map((text) => (text === "" ? Number.NaN : Number(text)));
    return findBoxProblem(box) === undefined ? toPolygon(box as unknown as Box) : undefined;
  }, [key]);
  return (
    <Fieldset
      data-path={path}
      legend={
        <>
          {label}
          {isRequired && (
            <Text span c="var(--mantine-color-error)" aria-hidden>
              {" *"}
            </Text>
          )}
        </>
      }
    >
      <Stack gap="xs">
        {description && (
          <Text size="sm" c="dimmed">
            {description}
          </Text>
        )}
        <Suspense fallback={<Loading what="Loading the map" />}>
          <AreaMap
            label={label}
            shape="box"
            value={polygon}
            onChange={(area) => {
              const box = boxOf(area);
              onChange(box === undefined ? EMPTY_BOX : toBoxText(roundBox(box)));
            }}
          />
        </Suspense>
        <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="xs">
          {SIDES.map((side, index) => (
            <TextInput
              key={side}
              label={side}
              inputMode="decimal"
              placeholder="degrees"
              value={draft[index] ?? ""}
              error={error !== undefined}
              onChange={({ currentTarget }) =>
                onChange(
                  draft.map((text, place) => (place === index ? currentTarget.value.replace(",", ".").trim() : text)),
                )
              }
            />
          ))}
        </SimpleGrid>
        {error && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {error}
          </Text>
        )}
      </Stack>
    </Fieldset>
  );
}
