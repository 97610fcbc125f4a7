import { type NamedDocument, XmlError, parseNamed } from "@swath/xml";

import { Kvp } from "../kvp.ts";
import { OwsError } from "../ows-error.ts";

type Node = Readonly<Record<string, unknown>>;

/** A request of WCS 2.0 as XML (OGC 09-148r1), as the parameters it would have as key-value pairs. @throws {OwsError} */
export function parsePost(text: string): Kvp {
  let document: NamedDocument;
  try {
    document = parseNamed(text);
  } catch (error) {
    if (!(error instanceof XmlError)) {
      throw error;
    }
    throw new OwsError("InvalidParameterValue", `The body must be XML: it ${error.message}.`);
  }
  const { name, value: root } = document;
  if (typeof root === "string") {
    throw new OwsError("MissingParameterValue", "The body must be a request of WCS.", { locator: "REQUEST" });
  }
  const service = textOf(root["@service"]) ?? "WCS";
  if (service !== "WCS") {
    throw new OwsError("InvalidParameterValue", "The attribute service must be WCS.", { locator: "service" });
  }
  return new Kvp({ service, request: name, ...toParameters(root) });
}

function toParameters(root: Node): Readonly<Record<string, string | readonly string[]>> {
  const parameters: Record<string, string | readonly string[]> = {};
  const put = (name: string, value: string | readonly string[] | undefined) => {
    if (value !== undefined && value.length > 0) {
      parameters[name] = value;
    }
  };
  put("version", textOf(root["@version"]) ?? listOf(find(root, "Version")).map(textOf).filter(isText)[0]);
  put("coverageid", listOf(root["CoverageId"]).map(textOf).filter(isText).join(","));
  put("eoid", listOf(root["eoId"]).map(textOf).filter(isText).join(","));
  put("format", textOf(root["format"]));
  put("mediatype", textOf(root["mediaType"]));
  put("count", textOf(root["@count"]));
  put("containment", textOf(root["containment"]));
  put("sections", listOf(find(root, "Section")).map(textOf).filter(isText).join(","));
  const quote = (value: string) => (Number.isFinite(Number(value)) ? value : `"${value}"`);
  const trims = listOf(root["DimensionTrim"]).map((trim) => {
    const { Dimension, TrimLow, TrimHigh } = trim as Record<string, unknown>;
    return `${textOf(Dimension) ?? ""}(${quote(textOf(TrimLow) ?? "*")},${quote(textOf(TrimHigh) ?? "*")})`;
  });
  const slices = listOf(root["DimensionSlice"]).map((slice) => {
    const { Dimension, SlicePoint } = slice as Record<string, unknown>;
    return `${textOf(Dimension) ?? ""}(${quote(textOf(SlicePoint) ?? "")})`;
  });
  put(
    "subset",
    [...trims, ...slices].map((text) => text.replaceAll('"*"', "*")),
  );
  put("subsettingcrs", textOf(find(root, "subsettingCrs")));
  put("outputcrs", textOf(find(root, "outputCrs")));
  put("scalefactor", textOf(find(root, "scaleFactor")));
  put("interpolation", textOf(find(root, "globalInterpolation")));
  const sizes = listOf(find(root, "TargetAxisSize")).map((each) => {
    const { axis, targetSize } = each as Record<string, unknown>;
    return `${textOf(axis) ?? ""}(${textOf(targetSize) ?? ""})`;
  });
  put("scalesize", sizes.join(","));
  const components = listOf(find(root, "RangeItem")).map((item) => {
    const { RangeComponent, RangeInterval } = item as Record<string, unknown>;
    const { startComponent, endComponent } = (RangeInterval ?? {}) as Record<string, unknown>;
    return RangeInterval === undefined
      ? textOf(RangeComponent)
      : `${textOf(startComponent) ?? ""}:${textOf(endComponent) ?? ""}`;
  });
  put("rangesubset", components.filter(isText).join(","));
  return parameters;
}

const isText = (value: unknown): value is string => typeof value === "string";

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") {
    return value.trim();
  }
  const inner = typeof value === "object" && value !== null ? (value as Node)["#text"] : undefined;
  return typeof inner === "string" ? inner.trim() : undefined;
}

const listOf = (value: unknown): readonly unknown[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as unknown[]) : [value];

/** The first element of a name at any depth: extensions put theirs below `Extension`. */
function find(node: unknown, name: string): unknown {
  for (const each of listOf(node)) {
    if (typeof each !== "object" || each === null) {
      continue;
    }
    if (Object.hasOwn(each, name)) {
      return (each as Node)[name];
    }
    for (const value of Object.values(each)) {
      const found = find(value, name);
      if (found !== undefined) {
        return found;
      }
    }
  }
  return undefined;
}
