import { type Html, html } from "../pages/html.ts";

/** A state in one word. */
export function renderBadge(text: string, kind?: "good" | "bad"): Html {
  return html`<span class="badge${kind !== undefined && ` ${kind}`}">${text}</span>`;
}
