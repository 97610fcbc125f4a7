import { formatTime } from "../format.ts";

/** What pages read of a STAC link. */
export interface StacLink {
  readonly rel: string;
  readonly href: string;
  readonly title?: string;
  readonly type?: string;
  readonly method?: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface StacAsset {
  readonly href: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly roles?: readonly string[];
  readonly "file:size"?: number;
}

export interface StacItem {
  readonly type: "Feature";
  readonly id: string;
  readonly collection?: string;
  readonly geometry: unknown;
  readonly bbox?: readonly number[];
  readonly properties: Readonly<Record<string, unknown>>;
  readonly assets?: Readonly<Record<string, StacAsset>>;
  readonly links?: readonly StacLink[];
}

/** A catalogue or a collection. */
export interface StacContainer {
  readonly type: "Catalog" | "Collection";
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  readonly license?: string;
  readonly keywords?: readonly string[];
  readonly extent?: {
    readonly spatial?: { readonly bbox?: readonly (readonly number[])[] };
    readonly temporal?: { readonly interval?: readonly (readonly (string | null)[])[] };
  };
  readonly providers?: readonly { readonly name: string; readonly url?: string; readonly roles?: readonly string[] }[];
  readonly assets?: Readonly<Record<string, StacAsset>>;
  readonly links?: readonly StacLink[];
}

/** A page of a search. Services count up to a limit, so `numberMatched` may be a lower bound. */
export interface ItemPage {
  readonly type: "FeatureCollection";
  readonly features: readonly StacItem[];
  readonly numberMatched?: number;
  readonly links?: readonly StacLink[];
}

export function titleOf(document: StacItem | StacContainer): string {
  const title = document.type === "Feature" ? document.properties["title"] : document.title;
  return typeof title === "string" && title !== "" ? title : document.id;
}

/** The time of an item: its instant, or the begin of its interval. */
export function timeOf({ properties }: StacItem): string | undefined {
  const time = properties["datetime"] ?? properties["start_datetime"];
  return typeof time === "string" ? time : undefined;
}

/** The instant or interval of an item, as a page shows it. */
export function formatTimeOf(item: StacItem): string | undefined {
  const time = timeOf(item);
  const end = item.properties["end_datetime"];
  return time === undefined
    ? undefined
    : `${formatTime(new Date(time))}${typeof end === "string" ? ` to ${formatTime(new Date(end))}` : ""}`;
}

/** Assets that a page can show as a picture, the best for a small one first. */
export const pictureAssets = ({ assets = {} }: StacItem): readonly StacAsset[] =>
  Object.values(assets)
    .filter(({ type = "" }) => /^image\/(png|jpeg|webp|gif)$/.test(type))
    .toSorted((a, b) => rankOf(a) - rankOf(b));

const rankOf = ({ roles = [] }: StacAsset): number =>
  roles.includes("thumbnail") ? 0 : roles.includes("overview") ? 1 : 2;

const SHOWN_ELSEWHERE = new Set(["title", "description", "datetime", "start_datetime", "end_datetime"]);

/** Properties with a value, by name; what a page of an item shows elsewhere is left out. */
export const listProperties = ({ properties }: StacItem): readonly (readonly [name: string, value: string])[] =>
  Object.entries(properties)
    .filter(([name, value]) => !SHOWN_ELSEWHERE.has(name) && value !== null && value !== "")
    .map(([name, value]): readonly [string, string] => [name, toText(value)])
    .toSorted(([a], [b]) => a.localeCompare(b));

function toText(value: unknown): string {
  if (Array.isArray(value) && value.every((entry) => typeof entry !== "object")) {
    return value.join(", ");
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}
