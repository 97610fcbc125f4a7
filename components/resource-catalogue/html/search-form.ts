import { type Html, html } from "@swath/pages";

const FIELDS = [
  { name: "q", label: "Text", hint: "lake" },
  { name: "bbox", label: "Area: west, south, east, north", hint: "10,45,11,46" },
  { name: "datetime", label: "Time", hint: "2024-01-01T00:00:00Z/2024-12-31T23:59:59Z" },
  { name: "filter", label: "Filter (CQL2)", hint: '"eo:cloud_cover" < 20' },
] as const;

/** A form that searches by GET, with what was asked before. */
export function renderSearchForm(action: string, provided = new URLSearchParams()): Html {
  const known = new Set<string>(FIELDS.map(({ name }) => name));
  const kept = [...provided].filter(
    ([name]) => !known.has(name) && !["f", "token", "offset", "startindex"].includes(name),
  );
  return html`<form method="get" action="${action}">
    <input
      type="hidden"
      name="f"
      value="html"
    />${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${FIELDS.map(({ name, label, hint }) => html`<label for="${name}">${label}</label><input id="${name}" name="${name}" value="${provided.get(name) ?? ""}" placeholder="${hint}" />`)}
    <button type="submit">Search</button>
  </form>`;
}
