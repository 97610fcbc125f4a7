import type { ComponentType } from "react";

import type { Kind } from "../model/form-fields.ts";
import type { Draft } from "../model/form-values.ts";

/** What every way to give a value gets. */
export interface KindInputProps<K extends Kind = Kind> {
  readonly kind: K;
  readonly label: string;
  readonly description?: string | undefined;
  /** What holds when nothing is given. */
  readonly placeholder?: string | undefined;
  readonly isRequired?: boolean;
  readonly path: string;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

/** Lists and unions hold values of any kind; how those are given is handed to them. */
export type KindInputComponent = ComponentType<KindInputProps>;
