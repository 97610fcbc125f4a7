import { JsonInput, NumberInput, Select, TextInput } from "@mantine/core";

import type { Field } from "../model/form-fields.ts";
import {
  type BoxDraft,
  type Draft,
  type Drafts,
  type ListEntry,
  type UnionDraft,
  textOf,
} from "../model/form-values.ts";
import type { Polygon } from "../model/areas.ts";
import { AddressInput } from "./address-input.tsx";
import { AreaInput } from "./area-input.tsx";
import { BoxInput } from "./box-input.tsx";
import { FieldGroup } from "./field-group.tsx";
import { useForm } from "./form-context.ts";
import type { KindInputProps } from "./kind-input-props.ts";
import { ListInput } from "./list-input.tsx";
import { UnionInput } from "./union-input.tsx";

interface FieldInputProps {
  readonly field: Field;
  /** Where it is in the inputs: `inputs.scenes`. */
  readonly path: string;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

/** One line of a form, whatever it is for. */
export function FieldInput({ field, path, draft, onChange }: FieldInputProps) {
  return (
    <KindInput
      kind={field.kind}
      label={field.title}
      description={field.description}
      placeholder={field.default === undefined ? undefined : defaultText(field.default)}
      isRequired={field.isRequired}
      path={path}
      draft={draft}
      onChange={onChange}
    />
  );
}

const defaultText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** What a value of a kind is given with. */
export function KindInput(props: KindInputProps) {
  const { kind, label, description, placeholder, isRequired = false, path, draft, onChange } = props;
  const error = useForm().errorAt(path);
  const common = { label, description, error, withAsterisk: isRequired, "data-path": path };
  switch (kind.kind) {
    case "text":
      return (
        <TextInput
          {...common}
          placeholder={placeholder}
          value={textOf(draft)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case "date":
      return (
        <TextInput
          {...common}
          placeholder={kind.hasTime ? "2026-11-21T10:50:29Z" : "2026-11-21"}
          value={textOf(draft)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case "number":
      return (
        <NumberInput
          {...common}
          placeholder={placeholder}
          value={typeof draft === "number" ? draft : textOf(draft)}
          allowDecimal={!kind.isInteger}
          min={kind.minimum}
          max={kind.maximum}
          clampBehavior="none"
          onChange={onChange}
        />
      );
    case "boolean":
      return (
        <Select
          {...common}
          data={[
            { value: "true", label: "Yes" },
            { value: "false", label: "No" },
          ]}
          placeholder={placeholder ?? "not given"}
          value={typeof draft === "boolean" ? String(draft) : null}
          clearable={!isRequired}
          onChange={(value) => onChange(value === null ? undefined : value === "true")}
        />
      );
    case "choice":
      return (
        <Select
          {...common}
          data={kind.options.map(String)}
          placeholder={placeholder ?? "not given"}
          value={(draft ?? null) as string | null}
          clearable={!isRequired}
          searchable={kind.options.length > 8}
          onChange={onChange}
        />
      );
    case "address":
      return <AddressInput {...props} kind={kind} draft={textOf(draft)} />;
    case "box":
      return <BoxInput {...props} draft={draft as BoxDraft} />;
    case "area":
      return <AreaInput {...props} draft={draft as Polygon | undefined} />;
    case "list":
      return <ListInput {...props} Input={KindInput} kind={kind} draft={draft as readonly ListEntry[]} />;
    case "union":
      return <UnionInput {...props} Input={KindInput} kind={kind} draft={draft as UnionDraft} />;
    case "record":
      return (
        <FieldGroup label={label} description={description} isRequired={isRequired} path={path}>
          {kind.fields.map((field) => (
            <FieldInput
              key={field.name}
              field={field}
              path={`${path}.${field.name}`}
              draft={(draft as Drafts)[field.name]}
              onChange={(value) => onChange({ ...(draft as Drafts), [field.name]: value })}
            />
          ))}
        </FieldGroup>
      );
    case "json":
      return (
        <JsonInput
          {...common}
          placeholder={placeholder ?? "any JSON"}
          value={textOf(draft)}
          onChange={onChange}
          formatOnBlur
          autosize
          minRows={2}
          maxRows={12}
        />
      );
  }
}
