import type { StacIssue } from "@swath/stac/schema";

/** What the store cannot do without. */
export function onlyWhatIsNeeded(value: unknown): readonly StacIssue[] {
  const { type, id, properties, assets, links } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isObject = (member: unknown): boolean =>
    typeof member === "object" && member !== null && !Array.isArray(member);
  return [
    ...(type === "Feature" ? [] : [{ path: "/type", rule: 'must be "Feature"' }]),
    ...(typeof id === "string" && id !== "" ? [] : [{ path: "/id", rule: "must be a text that is not empty" }]),
    ...(isObject(properties) ? [] : [{ path: "/properties", rule: "must be an object" }]),
    ...(assets === undefined || isObject(assets) ? [] : [{ path: "/assets", rule: "must be an object" }]),
    ...(links === undefined || Array.isArray(links) ? [] : [{ path: "/links", rule: "must be a list" }]),
  ];
}
