import { html } from "@swath/pages";
import type { Section, View } from "./layout.ts";
import type { RealmContext } from "./page.ts";

interface Confirmation {
  readonly title: string;
  readonly section: Section;
  /** What is lost. */
  readonly question: string;
  readonly button: string;
  /** Where to go when it is not done. */
  readonly back: string;
  readonly above: readonly (readonly [string, string])[];
}

/** Asks before something is deleted; its form is the action `confirm`. */
export function confirmView(
  { form }: RealmContext,
  { title, section, question, button, back, above }: Confirmation,
): View {
  return {
    title,
    section,
    above,
    content: html`<div class="panel">
      <p>${question}</p>
      ${form("confirm").close({ button, look: "danger" })}
      <p><a href="${back}">No, go back</a></p>
    </div>`,
  };
}
