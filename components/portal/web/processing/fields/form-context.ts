import { createContext, use } from "react";

import type { Scene } from "./scene-sources.ts";

/** What the fields of a form share. */
export interface FormState {
  /** What is wrong at a place: `inputs.scenes[2]`. */
  readonly errorAt: (path: string) => string | undefined;
  /** Scenes that were chosen from a list, by their addresses: maps show where they lie. */
  readonly scenes: ReadonlyMap<string, Scene>;
  readonly noteScenes: (scenes: readonly Scene[]) => void;
}

export const FormContext = createContext<FormState | undefined>(undefined);

export function useForm(): FormState {
  const form = use(FormContext);
  if (form === undefined) {
    throw new Error("a field is used outside of a form");
  }
  return form;
}
