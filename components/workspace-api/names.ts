import { workspacePrefix } from "@swath/manifest";
import { randomUUID } from "node:crypto";

import { slugify } from "transliteration";

/** Longest slug: with the prefix it stays a bucket name, a DNS label and a Kubernetes namespace (63). */
const MAX_SLUG = 32;

/**
 * The name of a workspace: `<prefix>-<slug>`. The slug is the preferred name in ASCII lower case, everything else than letters
 * and digits as single dashes, at most 32 characters; a random UUID where nothing is left of it.
 */
export function toWorkspaceName(prefix: string, preferredName: string): string {
  const slug = slugify(preferredName, { lowercase: true, separator: "-", allowedChars: "a-zA-Z0-9" })
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, MAX_SLUG)
    .replace(/-+$/, "");
  return `${prefix}-${slug === "" ? randomUUID() : slug}`;
}

/** What names begin with in the release lines: a deployment that moved from one to the other keeps the names that it has. */
const KNOWN_PREFIXES = [workspacePrefix({ variant: "A" }), workspacePrefix({ variant: "B" })];

/** What the names of workspaces look like: the pattern that every path with one is checked against. */
export function workspaceNamePattern(prefix: string): string {
  const prefixes = [...new Set([prefix, ...KNOWN_PREFIXES])];
  return `^(?:${prefixes.join("|")})-[a-z0-9][a-z0-9-]{0,40}$`;
}
