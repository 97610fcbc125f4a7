import type { Problem } from "@swath/service";

import { badParameter } from "../http/errors.ts";

/** A parameter of the catalogue's OpenSearch interface. */
export interface SearchParameter {
  readonly name: string;
  /** As templates have it: `geo:box`. */
  readonly token: string;
  /** Other names that known clients send. */
  readonly aliases?: readonly string[];
  readonly description: string;
  readonly options?: readonly string[];
  readonly pattern?: string;
}

const RANGE = String.raw`(\[|\])?-?[0-9.]+(\[|\])?(,-?[0-9.]+(\[|\])?)?|\{[-0-9.,]+\}`;
const DATE_TIME = String.raw`[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?)?`;

/** OpenSearch 1.1, and its extensions Geo and Time (OGC 10-032r8) and EO (OGC 13-026r9). */
export const PARAMETERS: readonly SearchParameter[] = [
  {
    name: "q",
    token: "searchTerms",
    aliases: ["searchterms"],
    description: "Words that a record has; the last one may go on.",
  },
  {
    name: "count",
    token: "count",
    aliases: ["maxrecords", "maximumrecords"],
    description: "Records of a page.",
    pattern: "[0-9]+",
  },
  {
    name: "startIndex",
    token: "startIndex",
    aliases: ["startposition", "startrecord"],
    description: "Number of the first record, from 1 on.",
    pattern: "[0-9]+",
  },
  {
    name: "startPage",
    token: "startPage",
    aliases: ["page"],
    description: "Number of the page, from 1 on.",
    pattern: "[0-9]+",
  },
  {
    name: "bbox",
    token: "geo:box",
    aliases: ["box"],
    description: "West, south, east, north in degrees; west > east across the antimeridian.",
  },
  {
    name: "geometry",
    token: "geo:geometry",
    aliases: ["geom"],
    description: "A geometry as WKT, in degrees of longitude and latitude.",
  },
  { name: "lat", token: "geo:lat", description: "Latitude of the middle of a circle." },
  { name: "lon", token: "geo:lon", description: "Longitude of the middle of a circle." },
  { name: "radius", token: "geo:radius", description: "Radius of the circle in metres." },
  {
    name: "relation",
    token: "geo:relation",
    description: "How place and record lie.",
    options: ["intersects", "contains", "disjoint"],
  },
  { name: "uid", token: "geo:uid", aliases: ["recordids", "id"], description: "Identifier of a record." },
  {
    name: "start",
    token: "time:start",
    aliases: ["startdate", "dtstart"],
    description: "Beginning of the time.",
    pattern: DATE_TIME,
  },
  {
    name: "end",
    token: "time:end",
    aliases: ["enddate", "dtend", "completiondate", "stop"],
    description: "End of the time.",
    pattern: DATE_TIME,
  },
  {
    name: "timeRelation",
    token: "time:relation",
    aliases: ["trelation"],
    description: "How time and record lie.",
    options: ["intersects", "during", "contains", "disjoint", "equals"],
  },
  {
    name: "parentIdentifier",
    token: "eo:parentIdentifier",
    aliases: ["collection"],
    description: "Identifier of the collection.",
  },
  { name: "platform", token: "eo:platform", description: "Platform, without case." },
  { name: "instrument", token: "eo:instrument", description: "Instrument, without case." },
  { name: "sensorType", token: "eo:sensorType", description: "Kind of the sensor.", options: ["OPTICAL", "RADAR"] },
  { name: "sensorMode", token: "eo:sensorMode", description: "Mode of the sensor." },
  { name: "productType", token: "eo:productType", description: "Type of the product." },
  { name: "processingLevel", token: "eo:processingLevel", description: "Level of processing." },
  { name: "orbitNumber", token: "eo:orbitNumber", description: "Absolute orbit: a number or a range.", pattern: RANGE },
  { name: "track", token: "eo:track", description: "Relative orbit: a number or a range.", pattern: RANGE },
  {
    name: "orbitDirection",
    token: "eo:orbitDirection",
    description: "Direction of the orbit.",
    options: ["ASCENDING", "DESCENDING"],
  },
  { name: "polarisationChannels", token: "eo:polarisationChannels", description: "Polarization: HH, HV, VH, VV." },
  {
    name: "resolution",
    token: "eo:resolution",
    description: "Ground sample distance in metres: a number or a range.",
    pattern: RANGE,
  },
  {
    name: "cloudCover",
    token: "eo:cloudCover",
    description: "Percentage of clouds: a number or a range.",
    pattern: RANGE,
  },
  { name: "snowCover", token: "eo:snowCover", description: "Percentage of snow: a number or a range.", pattern: RANGE },
  {
    name: "illuminationElevationAngle",
    token: "eo:illuminationElevationAngle",
    description: "Elevation of the sun in degrees: a number or a range.",
    pattern: RANGE,
  },
];

/** What clients of the known system send beside, and means nothing here. */
const IGNORED = new Set([
  "mode",
  "service",
  "version",
  "request",
  "elementsetname",
  "typenames",
  "resulttype",
  "outputformat",
  "outputschema",
  "language",
  "httpaccept",
  "f",
  "format",
  "startuid",
  "name",
]);
const KNOWN = new Map(
  PARAMETERS.flatMap((parameter) =>
    [parameter.name, parameter.token, ...(parameter.aliases ?? [])].map(
      (name) => [name.toLowerCase(), parameter.name] as const,
    ),
  ),
);

/** Parameters that only page, or that CSW reads by itself. */
const OF_CSW = new Set(["q", "count", "startIndex", "startPage", "bbox", "uid"]);

/**
 * The parameters of a search by key-value pairs of CSW that filter as they do here: `eo:cloudCover`, `start`, `geometry` (OGC 12-176r7 §7.3.4.1
 * has those of Geo and Time itself). What is neither is ignored, as services of OWS must (OGC 06-121r9 §11.5.2), but for names with the prefix
 * of an extension.
 * @throws {Problem} 400
 */
export function readFilterParameters(parameters: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const read = new Map<string, string>();
  for (const [provided, value] of parameters) {
    const name = KNOWN.get(provided);
    if (name === undefined && /^(?:geo|time|eo):/.test(provided)) {
      throw unknownParameter(provided);
    }
    if (name === undefined || OF_CSW.has(name) || value === "") {
      continue;
    }
    if (read.has(name)) {
      throw badParameter(name, "occurs twice");
    }
    read.set(name, value);
  }
  return read;
}

/** Parameters of a request by their names; empty ones are as if left out, as templates make them. @throws {Problem} 400 */
export function readParameters(query: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const read = new Map<string, string>();
  for (const [provided, value] of Object.entries(query)) {
    const key = provided.toLowerCase();
    if (IGNORED.has(key) || value === "") {
      continue;
    }
    const name = key === "time" ? "time" : KNOWN.get(key);
    if (name === undefined) {
      throw unknownParameter(provided);
    }
    if (typeof value !== "string" || read.has(name)) {
      throw badParameter(name, "occurs twice");
    }
    read.set(name, value);
  }
  return read;
}

const unknownParameter = (name: string): Problem =>
  badParameter(
    name.slice(0, 60),
    `is not known here; known are ${PARAMETERS.map((parameter) => parameter.name).join(", ")}`,
  );
