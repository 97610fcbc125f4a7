import { type Html, html } from "@swath/pages";

/** A state in one word. */
export function renderBadge(text: string, kind?: "good" | "bad"): Html {
  return html`<span class="badge${kind !== undefined && ` ${kind}`}">${text}</span>`;
}
