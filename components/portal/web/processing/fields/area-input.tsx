import { Textarea } from "@mantine/core";
import { useState } from "react";

import { type Polygon, formatWkt, parseArea } from "../model/areas.ts";
import { AreaMapPart } from "./area-map-part.tsx";
import { FieldGroup } from "./field-group.tsx";
import { useForm } from "./form-context.ts";
import type { KindInputProps } from "./kind-input-props.ts";

interface AreaInputProps extends Omit<KindInputProps, "kind" | "draft"> {
  readonly draft: Polygon | undefined;
}

/** An area: drawn on a map, or pasted as GeoJSON, well-known text, or a box. */
export function AreaInput({ label, description, isRequired, path, draft, onChange }: AreaInputProps) {
  const error = useForm().errorAt(path);
  const [text, setText] = useState(draft === undefined ? "" : formatWkt(draft));
  const [isWrong, setWrong] = useState(false);
  const [isTyped, setTyped] = useState(false);
  const type = (typed: string) => {
    setText(typed);
    setTyped(true);
    const area = parseArea(typed);
    setWrong(typed.trim() !== "" && area === undefined);
    onChange(area);
  };
  return (
    <FieldGroup label={label} description={description} isRequired={isRequired} path={path}>
      <AreaMapPart
        label={label}
        shape="polygon"
        value={draft}
        typed={isTyped ? draft : undefined}
        onChange={(area) => {
          setTyped(false);
          setWrong(false);
          setText(area === undefined ? "" : formatWkt(area as Polygon));
          onChange(area);
        }}
      />
      <Textarea
        label="Corners"
        description="Well-known text, GeoJSON, or west,south,east,north"
        value={text}
        autosize
        minRows={1}
        maxRows={6}
        error={isWrong ? "This is no polygon and no box." : error}
        onChange={(event) => type(event.currentTarget.value)}
      />
    </FieldGroup>
  );
}
