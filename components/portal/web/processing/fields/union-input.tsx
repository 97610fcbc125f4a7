import { SegmentedControl, Stack } from "@mantine/core";

import type { Kind } from "../model/form-fields.ts";
import { type UnionDraft, toDraft } from "../model/form-values.ts";
import type { KindInputComponent, KindInputProps } from "./kind-input-props.ts";

interface UnionInputProps extends Omit<KindInputProps, "kind" | "draft"> {
  readonly Input: KindInputComponent;
  readonly kind: Extract<Kind, { kind: "union" }>;
  readonly draft: UnionDraft;
}

/** A value of one of several kinds: first which, then what. */
export function UnionInput({ Input, kind, draft, onChange, ...others }: UnionInputProps) {
  const chosen = kind.options[draft.option] ?? kind.options[0];
  if (chosen === undefined) {
    return null;
  }
  return (
    <Stack gap={4}>
      <Input
        {...others}
        kind={chosen.kind}
        draft={draft.value}
        onChange={(value) => onChange({ option: draft.option, value })}
      />
      <SegmentedControl
        size="xs"
        aria-label={`Kind of ${others.label}`}
        style={{ alignSelf: "flex-start" }}
        data={kind.options.map(({ label }, index) => ({ value: String(index), label }))}
        value={String(draft.option)}
        onChange={(value) => {
          const option = Number(value);
          onChange({ option, value: toDraft(kind.options[option]?.kind ?? { kind: "json" }, undefined) });
        }}
      />
    </Stack>
  );
}
