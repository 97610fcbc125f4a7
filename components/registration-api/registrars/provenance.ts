import type { StacLink } from "@swath/stac";

const MAX_LINKS = 200;

/** Links to what made data: `{job, process, inputs, …}` as the processing service sends it, or links as they are. */
export function toLinks(provenance: unknown): readonly StacLink[] {
  const { links } = (provenance ?? {}) as { links?: unknown };
  if (!Array.isArray(links)) {
    return [];
  }
  return links
    .slice(0, MAX_LINKS)
    .filter(
      (link): link is StacLink =>
        typeof link === "object" &&
        link !== null &&
        typeof (link as StacLink).rel === "string" &&
        typeof (link as StacLink).href === "string" &&
        (link as StacLink).href !== "",
    );
}
