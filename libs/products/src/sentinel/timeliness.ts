/** How soon after sensing a product of a category is there at the latest (ISO 8601). */
const DURATIONS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    "NRT-10M": "PT10M",
    "NRT-1H": "PT1H",
    "NRT-3H": "PT3H",
    "FAST-24H": "PT24H",
    "OFF-LINE": "PT72H",
    NR: "PT3H",
    NRT: "PT3H",
    ST: "PT48H",
    STC: "PT48H",
    NT: "P1M",
    NTC: "P1M",
  }),
);

/** The category of a product with its duration, which the product extension wants beside it; a category that nobody knows is left out. */
export function describeTimeliness(category: string | undefined): Readonly<Record<string, string>> {
  const duration = DURATIONS.get(category?.trim().toUpperCase() ?? "");
  return category === undefined || duration === undefined
    ? {}
    : { "product:timeliness": duration, "product:timeliness_category": category.trim() };
}
