import { XmlError, parseNamed } from "@swath/xml";

export interface GdalMetadata {
  readonly dataset: Readonly<Record<string, string>>;
  readonly bands: Readonly<Record<number, { scale?: number; offset?: number; unit?: string; description?: string }>>;
}

/** Reads what GDAL writes into its own tag: items of the dataset, and of bands with the roles scale, offset, unittype, description. */
export function parseGdalMetadata(xml: string | undefined): GdalMetadata {
  const dataset: Record<string, string> = {};
  const bands: Record<number, { scale?: number; offset?: number; unit?: string; description?: string }> = {};
  for (const item of parseItems(xml)) {
    const { "@name": name, "@sample": sample, "@role": role, "@domain": domain, "#text": text = "" } = item;
    if (sample === undefined) {
      if (name !== undefined && domain === undefined) {
        dataset[name] = text;
      }
      continue;
    }
    const band = (bands[Number(sample)] ??= {});
    if (role === "scale" || role === "offset") {
      const value = Number(text);
      if (Number.isFinite(value)) {
        band[role] = value;
      }
    } else if (role === "unittype") {
      band.unit = text;
    } else if (role === "description") {
      band.description = text;
    }
  }
  return { dataset, bands };
}

interface Item {
  readonly "@name"?: string;
  readonly "@sample"?: string;
  readonly "@role"?: string;
  readonly "@domain"?: string;
  readonly "#text"?: string;
}

function parseItems(xml: string | undefined): readonly Item[] {
  if (xml === undefined) {
    return [];
  }
  try {
    // Texts of TIFF end with NUL.
    const { name, value } = parseNamed(xml.replace(/\0+$/, ""));
    const { Item: items = [] } = value as { readonly Item?: Item | readonly Item[] };
    return name === "GDALMetadata" ? [items].flat() : [];
  } catch (error) {
    if (!(error instanceof XmlError)) {
      throw error;
    }
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
