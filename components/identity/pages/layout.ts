import { type PageLayout, renderPage as renderPageOf } from "@swath/pages";

export const STYLE_PATH = "/resources/identity.css";

/** A page of the identity service: a card, wider for tables. */
export function renderPage(layout: Pick<PageLayout, "title" | "content" | "wide">): string {
  return renderPageOf({ ...layout, style: STYLE_PATH });
}
