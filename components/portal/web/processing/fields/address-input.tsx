import { Button, Group, TextInput } from "@mantine/core";
import { FolderSearch } from "lucide-react";
import { useState } from "react";

import type { Kind } from "../model/form-fields.ts";
import { useForm } from "./form-context.ts";
import type { KindInputProps } from "./kind-input-props.ts";
import { ScenePicker } from "./scene-picker.tsx";

interface AddressInputProps extends Omit<KindInputProps, "kind" | "draft"> {
  readonly kind: Extract<Kind, { kind: "address" }>;
  readonly draft: string;
}

/** The address of a scene or a file: typed, or chosen from what one has. */
export function AddressInput({ kind, label, description, isRequired, path, draft, onChange }: AddressInputProps) {
  const { errorAt, noteScenes, scenes } = useForm();
  const [isPicking, setPicking] = useState(false);
  const known = scenes.get(draft);
  return (
    <>
      <Group wrap="nowrap" align="flex-end" gap="xs">
        <TextInput
          label={label}
          description={description ?? known?.title}
          error={errorAt(path)}
          withAsterisk={isRequired ?? false}
          data-path={path}
          placeholder={
            kind.of === "scene" ? "https://… or s3://… of a STAC item, collection or catalogue" : "https://… or s3://…"
          }
          value={draft}
          onChange={(event) => onChange(event.currentTarget.value)}
          style={{ flex: 1, minWidth: 0 }}
        />
        <Button
          variant="default"
          px="sm"
          onClick={() => setPicking(true)}
          aria-label={`Choose ${label}`}
          title={`Choose ${label}`}
        >
          <FolderSearch size={16} aria-hidden />
        </Button>
      </Group>
      {isPicking && (
        <ScenePicker
          anyFile={kind.of === "file"}
          onUse={(chosen) => {
            noteScenes(chosen);
            onChange(chosen[0]?.href ?? draft);
          }}
          onClose={() => setPicking(false)}
        />
      )}
    </>
  );
}
