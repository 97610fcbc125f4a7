import type { Sight } from "../map/map-events.tsx";

/** How a layer is shown: a style by its name, or one of one's own. */
export interface Look {
  readonly layer: string;
  readonly style: string | undefined;
  /** A day, or nothing for the newest of all. */
  readonly time: string | undefined;
  readonly expression: string | undefined;
  readonly range: readonly [number, number] | undefined;
  readonly colours: string | undefined;
}

export interface ViewState {
  readonly look: Look | undefined;
  /** The right half of the map, where two are compared. */
  readonly other: Look | undefined;
  readonly sight: Sight | undefined;
  readonly opacity: number;
}

const FIELDS = ["layer", "style", "time", "expression", "range", "colours"] as const;

/** The view that an address shows. What it does not say right is left out. */
export function readView(parameters: URLSearchParams): ViewState {
  const numbers = (parameters.get("at") ?? "").split(",").map(Number);
  const opacity = Number(parameters.get("opacity") ?? 100) / 100;
  return {
    look: readLook(parameters, ""),
    other: readLook(parameters, "other-"),
    sight: numbers.length === 3 && numbers.every(Number.isFinite) ? (numbers as unknown as Sight) : undefined,
    opacity: opacity >= 0 && opacity <= 1 ? opacity : 1,
  };
}

/** The address of a view: who opens it sees the same. */
export function writeView({ look, other, sight, opacity }: ViewState): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [prefix, each] of [
    ["", look],
    ["other-", other],
  ] as const) {
    for (const field of each === undefined ? [] : FIELDS) {
      const value = each?.[field];
      if (value !== undefined) {
        parameters.set(`${prefix}${field}`, typeof value === "string" ? value : value.join(","));
      }
    }
  }
  if (sight !== undefined) {
    parameters.set("at", sight.join(","));
  }
  if (opacity !== 1) {
    parameters.set("opacity", String(Math.round(opacity * 100)));
  }
  return parameters;
}

function readLook(parameters: URLSearchParams, prefix: string): Look | undefined {
  const get = (name: string) => parameters.get(`${prefix}${name}`) ?? undefined;
  const layer = get("layer");
  const range = (get("range") ?? "").split(",").map(Number);
  return layer === undefined
    ? undefined
    : {
        layer,
        style: get("style"),
        time: get("time"),
        expression: get("expression"),
        range: range.length === 2 && range.every(Number.isFinite) ? (range as unknown as [number, number]) : undefined,
        colours: get("colours"),
      };
}

/** The query by which the tile service shows a look. */
export function toQuery({ style, time, expression, range, colours }: Look): URLSearchParams {
  const query = new URLSearchParams();
  if (expression !== undefined) {
    query.set("expression", expression);
  } else if (style !== undefined) {
    query.set("style", style);
  }
  if (range !== undefined) {
    query.set("rescale", range.join(","));
  }
  if (colours !== undefined) {
    query.set("colormap_name", colours);
  }
  if (time !== undefined) {
    query.set("datetime", time);
  }
  return query;
}

/** The query of its values, which have no colours. */
export const toValuesQuery = (look: Look): URLSearchParams =>
  toQuery({ ...look, range: undefined, colours: undefined });

/** Addresses of a look for other programs. */
export function toAddresses(base: string, look: Look): readonly { readonly name: string; readonly text: string }[] {
  const collection = `${base}/collections/${encodeURIComponent(look.layer)}`;
  const query = toQuery(look).toString();
  const ending = query === "" ? "" : `?${query}`;
  return [
    { name: "WMS", text: `${base}/ows?service=WMS&request=GetCapabilities` },
    { name: "WMTS", text: `${base}/wmts/1.0.0/WMTSCapabilities.xml` },
    { name: "XYZ", text: `${collection}/tiles/WebMercatorQuad/{z}/{x}/{y}.png${ending}` },
    { name: "TileJSON", text: `${collection}/WebMercatorQuad/tilejson.json${ending}` },
    { name: "WCS", text: `${base}/ows?service=WCS&request=GetCapabilities` },
    {
      name: "Python",
      text: [
        "import requests",
        "",
        `answer = requests.get("${collection}/coverage", params={`,
        '    "bbox": "15.2,46.3,15.3,46.4",',
        ...(look.time === undefined ? [] : [`    "datetime": "${look.time}",`]),
        '    "f": "tiff",',
        '}, headers={"Authorization": "Bearer " + token})',
        'open("part.tif", "wb").write(answer.content)',
      ].join("\n"),
    },
  ];
}
