import { SimpleGrid, TextInput } from "@mantine/core";
import { useMemo, useState } from "react";

import { type Box, bboxOf, findBoxProblem, roundBox, toPolygon } from "../model/areas.ts";
import { type BoxDraft, EMPTY_BOX, toBoxText } from "../model/form-values.ts";
import { AreaMapPart } from "./area-map-part.tsx";
import { FieldGroup } from "./field-group.tsx";
import { useForm } from "./form-context.ts";
import type { KindInputProps } from "./kind-input-props.ts";

const SIDES = ["West", "South", "East", "North"] as const;

interface BoxInputProps extends Omit<KindInputProps, "kind" | "draft"> {
  readonly draft: BoxDraft;
}

/** A bounding box: drawn on a map, or typed. */
export function BoxInput({ label, description, isRequired, path, draft, onChange }: BoxInputProps) {
  const error = useForm().errorAt(path);
  const [isTyped, setTyped] = useState(false);
  const key = draft.join(" ");
  const polygon = useMemo(() => {
    const bbox = key.split(" ").map((text) => (text === "" ? Number.NaN : Number(text)));
    return findBoxProblem(bbox) === undefined ? toPolygon(bbox as unknown as Box) : undefined;
  }, [key]);
  return (
    <FieldGroup label={label} description={description} isRequired={isRequired} path={path} error={error}>
      <AreaMapPart
        label={label}
        shape="box"
        value={polygon}
        typed={isTyped ? polygon : undefined}
        onChange={(area) => {
          setTyped(false);
          const bbox = bboxOf(area);
          onChange(bbox === undefined ? EMPTY_BOX : toBoxText(roundBox(bbox)));
        }}
      />
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="xs">
        {SIDES.map((side, index) => (
          <TextInput
            key={side}
            label={side}
            inputMode="decimal"
            placeholder="degrees"
            value={draft[index] ?? ""}
            error={error !== undefined}
            onChange={({ currentTarget }) => {
              setTyped(true);
              onChange(
                draft.map((text, place) => (place === index ? currentTarget.value.replace(",", ".").trim() : text)),
              );
            }}
          />
        ))}
      </SimpleGrid>
    </FieldGroup>
  );
}
