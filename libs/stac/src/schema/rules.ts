// Rules that involve several members.
import { findGeometryIssues } from "../geometry/check-geometry.ts";
import type { StacIssue } from "./validate.ts";

type Json = Readonly<Record<string, unknown>>;

export function itemRules(item: Json): readonly StacIssue[] {
  const properties = item["properties"] as Json;
  return [
    ...boxRules(item),
    ...findGeometryIssues(item["geometry"]).map(({ path, rule }) => ({ path: `/geometry${path}`, rule })),
    ...timeRules(properties, "/properties"),
    ...bandRules(item),
  ];
}

export function collectionRules(collection: Json): readonly StacIssue[] {
  const { spatial } = collection["extent"] as { spatial: { bbox: readonly (readonly number[])[] } };
  const issues: StacIssue[] = spatial.bbox.flatMap((bbox, index) => {
    const path = `/extent/spatial/bbox/${index}`;
    return bbox.length === 5 ? [{ path, rule: "must have 4 or 6 numbers", value: bbox }] : [];
  });
  if (spatial.bbox.length === 2) {
    issues.push({
      path: "/extent/spatial/bbox",
      rule: "must have one box, or one around all and then at least two others",
      value: spatial.bbox,
    });
  }
  return [...issues, ...timeRules(collection, "")];
}

function boxRules({ geometry, bbox }: Json): readonly StacIssue[] {
  if (geometry === null) {
    return bbox === undefined ? [] : [{ path: "/bbox", rule: "must be left out where geometry is null", value: bbox }];
  }
  if (bbox === undefined) {
    return [{ path: "/bbox", rule: "is required where there is a geometry" }];
  }
  return (bbox as readonly unknown[]).length === 5
    ? [{ path: "/bbox", rule: "must have 4 or 6 numbers", value: bbox }]
    : [];
}

function timeRules(properties: Json, path: string): readonly StacIssue[] {
  const { datetime, start_datetime: start, end_datetime: end } = properties;
  const issues: StacIssue[] = [];
  if (start !== undefined && end === undefined) {
    issues.push({ path: `${path}/end_datetime`, rule: "is required where there is a start_datetime" });
  }
  if (end !== undefined && start === undefined) {
    issues.push({ path: `${path}/start_datetime`, rule: "is required where there is an end_datetime" });
  }
  if (datetime === null && (start === undefined || end === undefined)) {
    issues.push({
      path: `${path}/datetime`,
      rule: "must be a date-time where there are no start_datetime and end_datetime",
      value: null,
    });
  }
  return issues;
}

function bandRules({ properties, assets }: Json): readonly StacIssue[] {
  const { bands } = properties as Json;
  const isUsed = Object.values(assets as Record<string, Json>).some((asset) => asset["bands"] !== undefined);
  return bands !== undefined && !isUsed
    ? [{ path: "/properties/bands", rule: "must be left out where no asset has bands", value: bands }]
    : [];
}
