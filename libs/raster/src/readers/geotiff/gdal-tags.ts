import { XMLParser } from "fast-xml-parser";

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "",
  textNodeName: "text",
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: { enabled: true, maxTotalExpansions: 1000, allowedTags: null } as never,
  isArray: (name: string) => name === "Item",
});

export interface GdalMetadata {
  readonly dataset: Readonly<Record<string, string>>;
  readonly bands: Readonly<Record<number, { scale?: number; offset?: number; unit?: string; description?: string }>>;
}

/** Reads what GDAL writes into its own tag: items of the dataset, and of bands with the roles scale, offset, unittype, description. */
export function parseGdalMetadata(xml: string | undefined): GdalMetadata {
  const dataset: Record<string, string> = {};
  const bands: Record<number, { scale?: number; offset?: number; unit?: string; description?: string }> = {};
  for (const item of parseItems(xml)) {
    const text = item.text ?? "";
    if (item.sample === undefined) {
      if (item.name !== undefined && item.domain === undefined) {
        dataset[item.name] = text;
      }
      continue;
    }
    const band = (bands[Number(item.sample)] ??= {});
    if (item.role === "scale" || item.role === "offset") {
      const value = Number(text);
      if (Number.isFinite(value)) {
        band[item.role] = value;
      }
    } else if (item.role === "unittype") {
      band.unit = text;
    } else if (item.role === "description") {
      band.description = text;
    }
  }
  return { dataset, bands };
}

interface Item {
  readonly name?: string;
  readonly sample?: string;
  readonly role?: string;
  readonly domain?: string;
  readonly text?: string;
}

function parseItems(xml: string | undefined): readonly Item[] {
  if (xml === undefined) {
    return [];
  }
  try {
    const root = parser.parse(xml) as { GDALMetadata?: { Item?: readonly Item[] } };
    return root.GDALMetadata?.Item ?? [];
  } catch {
    // A description that cannot be read takes nothing away from the pixels.
    return [];
  }
}

/** The nodata tag holds a number as text, also `nan` and `inf`. */
export function parseNodata(text: string | undefined): number | undefined {
  const trimmed = text?.trim().toLowerCase();
  if (trimmed === undefined || trimmed === "") {
    return undefined;
  }
  if (/^[+-]?nan$/.test(trimmed)) {
    return Number.NaN;
  }
  const infinity = /^([+-]?)inf(inity)?$/.exec(trimmed);
  const value = infinity === null ? Number(trimmed) : infinity[1] === "-" ? -Infinity : Infinity;
  return Number.isNaN(value) ? undefined : value;
}
