import { ActionIcon, Box, Button, Group } from "@mantine/core";
import { ListPlus, Plus, X } from "lucide-react";
import { useState } from "react";

import type { Kind } from "../model/form-fields.ts";
import { type ListEntry, toDraft } from "../model/form-values.ts";
import { FieldGroup } from "./field-group.tsx";
import { useForm } from "./form-context.ts";
import type { KindInputComponent, KindInputProps } from "./kind-input-props.ts";
import { ScenePicker } from "./scene-picker.tsx";
import type { Scene } from "./scene-sources.ts";

interface ListInputProps extends Omit<KindInputProps, "kind" | "draft"> {
  readonly Input: KindInputComponent;
  readonly kind: Extract<Kind, { kind: "list" }>;
  readonly draft: readonly ListEntry[];
}

/** Any number of values; scenes can be chosen from lists, several at once. */
export function ListInput({ Input, kind, label, description, isRequired, path, draft, onChange }: ListInputProps) {
  const { errorAt, noteScenes } = useForm();
  const [isPicking, setPicking] = useState(false);
  const error = errorAt(path);
  const hasScenes = kind.items.kind === "address" && kind.items.of === "scene";
  const nextKey = Math.max(-1, ...draft.map(({ key }) => key)) + 1;
  const add = () => onChange([...draft, { key: nextKey, value: toDraft(kind.items, undefined) }]);
  const use = (scenes: readonly Scene[]) => {
    noteScenes(scenes);
    const filled = draft.filter(({ value }) => value !== "");
    const provided = new Set(filled.map(({ value }) => value));
    const added = scenes.filter(({ href }) => !provided.has(href));
    onChange([...filled, ...added.map(({ href }, index) => ({ key: nextKey + index, value: href }))]);
  };
  const isFull = kind.maxItems !== undefined && draft.length >= kind.maxItems;
  return (
    <FieldGroup label={label} description={description} isRequired={isRequired} path={path} error={error}>
      {draft.map(({ key, value }, index) => (
        <Group key={key} wrap="nowrap" align="flex-end" gap="xs">
          <Box flex={1} miw={0}>
            <Input
              kind={kind.items}
              label={`${label} ${index + 1}`}
              path={`${path}[${index}]`}
              draft={value}
              onChange={(changed) =>
                onChange(draft.map((entry) => (entry.key === key ? { key, value: changed } : entry)))
              }
            />
          </Box>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            mb={2}
            aria-label={`Remove ${label} ${index + 1}`}
            onClick={() => onChange(draft.filter((entry) => entry.key !== key))}
          >
            <X size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <Group gap="xs">
        {hasScenes && (
          <Button
            size="xs"
            variant="light"
            leftSection={<ListPlus size={14} aria-hidden />}
            onClick={() => setPicking(true)}
          >
            Choose scenes
          </Button>
        )}
        <Button
          size="xs"
          variant="default"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={add}
          disabled={isFull}
        >
          {hasScenes ? "Add an address" : "Add"}
        </Button>
      </Group>
      {isPicking && <ScenePicker isMultiple onUse={use} onClose={() => setPicking(false)} />}
    </FieldGroup>
  );
}
