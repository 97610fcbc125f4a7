import { createHash } from "node:crypto";

import { decodePercent } from "@swath/service";

const MAX_BYTES = 180;

/**
 * A name that is safe as one part of a path on every file system: no separators, control characters or leading dots, of
 * bounded length. Two different raw names that would become the same are kept apart by `uniqueName`.
 */
export function safeName(raw: string, fallback: string): string {
  const decoded = decodePercent(raw).normalize("NFC");
  const last = decoded.split(/[/\\]/).findLast((part) => part !== "" && part !== "." && part !== "..") ?? "";
  // Control and format characters (also those that turn the direction of writing) and what some file systems refuse.
  const clean = last.replace(/[\p{Cc}\p{Cf}<>:"|?*]/gu, "_").replace(/^[.\s]+|[.\s]+$/g, "");
  return shorten(clean === "" ? fallback : clean);
}

/** `name`, or `name-2`, … before its extension when it is taken; names that differ in case only count as the same. */
export function uniqueName(name: string, taken: Set<string>): string {
  const dot = name.indexOf(".", 1);
  const [stem, extension] = dot === -1 ? [name, ""] : [name.slice(0, dot), name.slice(dot)];
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? name : `${stem}-${count}${extension}`;
    if (!taken.has(candidate.toLowerCase())) {
      taken.add(candidate.toLowerCase());
      return candidate;
    }
  }
}

/**
 * Gives each key of an object store (`folder/name`) a path of its own: keys may be both a file and a folder, or differ only in
 * what file systems do not tell apart.
 */
export function createPlacer(): (key: string) => string {
  const folders = new Map<string, string>([["", ""]]);
  const taken = new Map<string, Set<string>>([["", new Set(["catalog.json"])]]);
  const placeIn = (folder: string, raw: string, fallback: string): string => {
    const names = taken.get(folder) ?? new Set<string>();
    taken.set(folder, names);
    const name = uniqueName(safeName(raw, fallback), names);
    return folder === "" ? name : `${folder}/${name}`;
  };
  const placeFolder = (parts: readonly string[]): string => {
    const key = parts.join("/");
    const known = folders.get(key);
    if (known !== undefined) {
      return known;
    }
    const placed = placeIn(placeFolder(parts.slice(0, -1)), parts.at(-1) ?? "", "folder");
    folders.set(key, placed);
    return placed;
  };
  return (key) => {
    const parts = key.split("/").filter((part) => part !== "");
    return placeIn(placeFolder(parts.slice(0, -1)), parts.at(-1) ?? "", "file");
  };
}

/** Last part of an address's path. */
export function nameInUrl(href: string): string {
  const path = href.startsWith("s3://") ? href : URL.canParse(href) ? new URL(href).pathname : href;
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Keeps the extension; a hash keeps long names apart. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_BYTES) {
    return name;
  }
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? "";
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 12);
  let head = name.slice(0, MAX_BYTES);
  while (Buffer.byteLength(head) > MAX_BYTES - extension.length - hash.length - 1) {
    head = head.slice(0, -1);
  }
  return `${head.replace(/[\uD800-\uDBFF]$/, "")}-${hash}${extension}`;
}
