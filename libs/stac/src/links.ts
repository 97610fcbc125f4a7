import { StacError } from "./errors.ts";
import type { StacLink } from "./types.ts";

/**
 * The absolute address of a link's target.
 * @param base absolute address of the document that holds the link
 * @throws {StacError} when it cannot be made absolute
 */
export function resolveHref(href: string, base: string): string {
  // S3 keys may hold characters that URLs do not; an absolute address is left as it is.
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) {
    return href;
  }
  if (base.startsWith("s3://")) {
    return resolveKey(href, base);
  }
  if (!URL.canParse(href, base)) {
    throw new StacError(
      base,
      `the link "${href}" is relative, but the document has no address that it could start from`,
    );
  }
  return new URL(href, base).href;
}

/** Relative references in a bucket: `s3:` is no scheme that URL resolves paths in beyond its own host. */
function resolveKey(href: string, base: string): string {
  const [bucket = "", ...folders] = base.slice("s3://".length).split("/").slice(0, -1);
  const parts = href.startsWith("/") ? [] : folders;
  for (const part of href.split("/")) {
    if (part === "..") {
      parts.pop();
    } else if (part !== "." && part !== "") {
      parts.push(part);
    }
  }
  return `s3://${bucket}/${parts.join("/")}${href.endsWith("/") ? "/" : ""}`;
}

/** The first link with a relation. */
export function findLink(links: readonly StacLink[], rel: string): StacLink | undefined {
  return links.find((link) => link.rel === rel);
}

/** The relative reference from one path of a catalogue to another; both relative to the catalogue's root, with `/`. */
export function relativeHref(from: string, to: string): string {
  const folders = from.split("/").slice(0, -1);
  const target = to.split("/");
  let shared = 0;
  while (shared < folders.length && shared < target.length - 1 && folders[shared] === target[shared]) {
    shared += 1;
  }
  const up = folders.length - shared;
  return `${up === 0 ? "./" : "../".repeat(up)}${target.slice(shared).map(encodePart).join("/")}`;
}

/** What readers take for the start of a query, a fragment or an escape is escaped; everything else stays readable. */
const encodePart = (part: string): string => part.replaceAll("%", "%25").replaceAll("?", "%3F").replaceAll("#", "%23");
