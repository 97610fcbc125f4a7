import { type CwlType, formatType } from "@swath/cwl";

import { acceptsNull } from "../packages/describe.ts";
import { InputProblems, MAX_ITEMS, refuseProblems } from "../packages/input-problems.ts";
import type { PackageFacts } from "../packages/package-facts.ts";
import { unwrapValue } from "../packages/qualified-value.ts";
import type { StageInSource } from "../staging/types.ts";
import { chooseFormat } from "./file-format.ts";
import { findWantedAssets } from "./requested-assets.ts";

/** The inputs of a job as the engine takes them; files that have yet to be fetched are `{"$staged": <index>}`. */
export interface ReadInputs {
  readonly values: Readonly<Record<string, unknown>>;
  readonly sources: readonly InputSource[];
}

/** An input to fetch, and which assets of it when not all are wanted. */
export interface InputSource extends StageInSource {
  readonly assets?: readonly string[];
}

/**
 * Reads the inputs of an execute request (OGC 18-062r2 §7.11.2): plain values, `{value}`, `{href}`, and lists of them.
 * @throws {OgcError} 400 with every input that is missing, unknown or of another type
 */
export function readInputs(
  facts: Pick<PackageFacts, "inputs" | "stageIn">,
  provided: Readonly<Record<string, unknown>>,
): ReadInputs {
  const { inputs } = facts;
  const problems = new InputProblems();
  const sources: InputSource[] = [];
  const values: Record<string, unknown> = {};
  const known = new Set(inputs.map(({ name }) => name));
  const requested = findWantedAssets(
    facts,
    Object.fromEntries(Object.entries(provided).map(([name, value]) => [name, unwrapValue(value)])),
  );
  for (const name of Object.keys(provided)) {
    if (!known.has(name)) {
      problems.push({
        path: `inputs.${name}`,
        message: `is not an input of this process; allowed: ${[...known].join(", ")}`,
      });
    }
  }
  for (const input of inputs) {
    const value = unwrapValue(provided[input.name]);
    if (value === undefined || value === null) {
      if (input.required) {
        problems.push({ path: `inputs.${input.name}`, message: `is missing: ${input.typeText}` });
      }
      continue;
    }
    const assets = requested.get(input.name);
    values[input.name] = convert(provided[input.name], input.type, `inputs.${input.name}`, {
      problems,
      sources,
      ...(assets && { assets }),
      ...(input.format && { formats: input.format }),
    });
  }
  refuseProblems(problems.found);
  return { values, sources };
}

interface Findings {
  readonly problems: InputProblems;
  readonly sources: InputSource[];
  /** What the package asks for of the scenes of this input. */
  readonly assets?: readonly string[];
  /** Formats that files of this input may have, as the package says. */
  readonly formats?: readonly string[];
}

const ADDRESS = '{"href": "…"} or the address itself, http(s), s3 or data';
const INLINE = ', or its content as {"value": …, "mediaType": "…"}, GeoJSON or a bounding box';

function convert(provided: unknown, type: CwlType, path: string, findings: Findings): unknown {
  const value = unwrapValue(provided);
  const wrong = (allowed = formatType(type)): undefined => {
    const text = value === undefined ? "missing" : JSON.stringify(value).slice(0, 80);
    findings.problems.push({ path, message: `is ${text}; allowed: ${allowed}` });
    return undefined;
  };
  switch (type.kind) {
    case "boolean":
      return typeof value === "boolean" ? value : wrong();
    case "int":
      return isInteger(value, 31) ? value : wrong("int, a whole number from -2147483648 to 2147483647");
    case "long":
      return isInteger(value, 63) ? value : wrong("long, a whole number of 64 bits");
    case "float":
    case "double":
      return typeof value === "number" ? value : wrong();
    case "string":
      return typeof value === "string" ? value : wrong();
    case "enum":
      return typeof value === "string" && type.symbols.includes(value) ? value : wrong();
    case "File":
    case "Directory": {
      const source = (type.kind === "File" ? readInline(provided) : undefined) ?? readSource(value, type.kind);
      if (source === undefined) {
        return wrong(`${type.kind}, ${ADDRESS}${type.kind === "File" ? INLINE : ""}`);
      }
      const format = type.kind === "File" ? chooseFormat(value, source.mediaType, findings.formats) : undefined;
      if (format?.refused !== undefined) {
        findings.problems.push({ path, message: format.refused });
        return undefined;
      }
      const isScene = type.kind === "Directory" && findings.assets !== undefined;
      findings.sources.push(isScene ? { assets: findings.assets, ...source } : source);
      return { $staged: findings.sources.length - 1, ...(format?.format !== undefined && { format: format.format }) };
    }
    case "array": {
      // One value stands for a list of one: many clients send it so.
      const items = Array.isArray(value) ? value : [provided];
      if (items.length > MAX_ITEMS) {
        findings.problems.push({
          path,
          message: `has ${items.length} values; allowed: ${MAX_ITEMS}, put more into a file`,
        });
        return undefined;
      }
      return items.map((item, index) => convert(item, type.items, `${path}[${index}]`, findings));
    }
    case "record": {
      // A record with a field `value` is what would else be a qualified value.
      const record =
        isRecord(value) || !type.fields.some(({ name }) => name === "value")
          ? value
          : isRecord(provided)
            ? provided
            : value;
      if (!isRecord(record)) {
        return wrong(`an object with ${type.fields.map((field) => field.name).join(", ")}`);
      }
      return Object.fromEntries(
        type.fields
          .filter(({ name, type: inner }) => record[name] !== undefined || !acceptsNull(inner))
          .map(({ name, type: inner }) => [name, convert(record[name], inner, `${path}.${name}`, findings)]),
      );
    }
    case "union": {
      const members = type.members.filter((member) => member.kind !== "null");
      const [only] = members;
      if (members.length === 1 && only !== undefined) {
        return convert(provided, only, path, findings);
      }
      for (const member of members) {
        const trial = { ...findings, problems: new InputProblems(true) };
        const sourcesBefore = findings.sources.length;
        const converted = convert(provided, member, path, trial);
        if (trial.problems.found.length === 0) {
          return converted;
        }
        findings.sources.length = sourcesBefore;
      }
      return wrong(members.map(formatType).join(" | "));
    }
    default:
      return value;
  }
}

/**
 * An address as a text, `{href, type}`, or a CWL file object with a location. Local paths are never addresses. Of a scene
 * `{href, assets}` names what is wanted, whatever the package asks for; of a file `checksum` and `size` are checked.
 */
function readSource(value: unknown, kind: "File" | "Directory"): InputSource | undefined {
  const fields = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const href = typeof value === "string" ? value : (fields["href"] ?? fields["location"]);
  const mediaType = fields["type"] ?? fields["mediaType"];
  if (typeof href !== "string" || !/^(https?|s3|data):/i.test(href)) {
    return undefined;
  }
  return {
    href,
    as: kind === "File" ? "file" : "directory",
    ...(typeof mediaType === "string" && { mediaType }),
    ...(kind === "Directory" && isTexts(fields["assets"]) && { assets: fields["assets"] }),
    ...(kind === "File" && typeof fields["checksum"] === "string" && { checksum: fields["checksum"] }),
    ...(kind === "File" && Number.isInteger(fields["size"]) && { size: fields["size"] as number }),
  };
}

const GEOJSON = new Set([
  "Feature",
  "FeatureCollection",
  "GeometryCollection",
  ...["Point", "LineString", "Polygon"].flatMap((name) => [name, `Multi${name}`]),
]);

/**
 * A file whose content is in the request itself (OGC 18-062r2 §7.11.2.3): a qualified value, text or base64 or JSON; a text that
 * is no address; GeoJSON; a bounding box.
 */
function readInline(provided: unknown): InputSource | undefined {
  if (typeof provided === "string") {
    // One line may be an address with a mistake, or a path.
    return /^\s*[<{[]|\n/.test(provided)
      ? toInline(provided, provided.trimStart().startsWith("<") ? "application/xml" : "text/plain")
      : undefined;
  }
  if (typeof provided !== "object" || provided === null || Array.isArray(provided)) {
    return undefined;
  }
  const { value, mediaType, encoding, format, bbox, type } = provided as Readonly<Record<string, unknown>>;
  if (value === undefined) {
    const isGeoJson = typeof type === "string" && GEOJSON.has(type);
    return isGeoJson || Array.isArray(bbox)
      ? toInline(JSON.stringify(provided), isGeoJson ? "application/geo+json" : "application/json")
      : undefined;
  }
  const { mediaType: ofFormat, encoding: formatEncoding } = (
    typeof format === "object" && format !== null ? format : {}
  ) as {
    readonly mediaType?: unknown;
    readonly encoding?: unknown;
  };
  const told = mediaType ?? ofFormat;
  const isBase64 = (encoding ?? formatEncoding) === "base64";
  if (typeof value === "string") {
    return typeof told === "string" || isBase64
      ? toInline(value, typeof told === "string" ? told : "application/octet-stream", isBase64)
      : readInline(value);
  }
  return typeof value === "object" && value !== null
    ? toInline(
        JSON.stringify(value),
        typeof told === "string" ? told : (readInline(value)?.mediaType ?? "application/json"),
      )
    : undefined;
}

function toInline(content: string, mediaType: string, isBase64 = false): InputSource {
  const bytes = isBase64 ? content.replaceAll(/\s/g, "") : Buffer.from(content).toString("base64");
  return { href: `data:${mediaType.replaceAll(/[\s,]/g, "")};base64,${bytes}`, as: "file", mediaType };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isInteger = (value: unknown, bits: number): boolean =>
  Number.isInteger(value) && (value as number) >= -(2 ** bits) && (value as number) < 2 ** bits;

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");

/** Puts the staged files in the places that wait for them. */
export function resolveStagedInputs(
  value: unknown,
  staged: readonly { path: string; kind: "file" | "directory" }[],
): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => resolveStagedInputs(item, staged));
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const index = (value as { $staged?: unknown }).$staged;
  const input = typeof index === "number" ? staged[index] : undefined;
  if (input !== undefined) {
    const { format } = value as { format?: unknown };
    return {
      class: input.kind === "file" ? "File" : "Directory",
      path: input.path,
      ...(typeof format === "string" && { format }),
    };
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolveStagedInputs(item, staged)]));
}
