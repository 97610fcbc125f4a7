import { readdirSync, lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { CwlError } from "../errors.ts";

/** Where a relative path lies on this machine: parts of a working directory may be mounted from elsewhere. */
type PlaceOf = (path: string) => string;

/**
 * Paths below a directory (relative, sorted) that match a POSIX glob(3) pattern: `*`, `?` and `[…]` match inside one segment
 * and not a leading dot. Patterns that would leave the root are refused.
 */
export function globFiles(locationOf: PlaceOf, pattern: string): string[] {
  const segments = pattern.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..") || pattern.includes("\0")) {
    throw new CwlError("unsafe", `the glob ${JSON.stringify(pattern)} leads out of the working directory`);
  }
  if (segments.length === 0) {
    return [""];
  }
  let found = [""];
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1;
    found = found
      .flatMap((path) => matchSegment(locationOf, path, segment))
      .filter((path) => last || isDirectory(locationOf(path)));
  }
  return pattern.endsWith("/") ? found.filter((path) => isDirectory(locationOf(path))) : found;
}

function matchSegment(locationOf: PlaceOf, path: string, segment: string): string[] {
  if (!/[*?[]/.test(segment)) {
    const next = join(path, unescape(segment));
    return lstatSync(locationOf(next), { throwIfNoEntry: false }) === undefined ? [] : [next];
  }
  const matcher = segmentMatcher(segment);
  return readdirSync(locationOf(path))
    .filter((name) => matcher.test(name))
    .sort()
    .map((name) => join(path, name));
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function unescape(segment: string): string {
  return segment.replace(/\\(.)/g, "$1");
}

/** A regular expression for one segment. Runs of `*` become one, so that matching never takes exponential time. */
export function segmentMatcher(segment: string): RegExp {
  let source = /^[*?[]/.test(segment) ? "(?!\\.)" : "";
  for (let index = 0; index < segment.length; index += 1) {
    const char = segment[index] ?? "";
    const close =
      char === "["
        ? segment.indexOf("]", index + (segment[index + 1] === "!" || segment[index + 1] === "^" ? 3 : 2))
        : -1;
    if (char === "*") {
      source += segment[index - 1] === "*" ? "" : "[^/]*";
    } else if (char === "?") {
      source += "[^/]";
    } else if (char === "[" && close !== -1) {
      const inner = segment.slice(index + 1, close);
      const negated = inner.startsWith("!") || inner.startsWith("^");
      source += `[${negated ? "^/" : ""}${(negated ? inner.slice(1) : inner).replace(/[\\\]^[]/g, "\\$&")}]`;
      index = close;
    } else if (char === "\\" && index + 1 < segment.length) {
      index += 1;
      source += escapeRegExp(segment[index] ?? "");
    } else {
      source += escapeRegExp(char);
    }
  }
  return new RegExp(`^${source}$`, "su");
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, (char) => (char === "-" ? "-" : `\\${char}`));
}
