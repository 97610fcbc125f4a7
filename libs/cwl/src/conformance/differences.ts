import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { toJson } from "../model/values.ts";

type Item = Readonly<Record<string, unknown>>;

/** How an output object differs from the expected one, by the rules of the CWL conformance tests; empty when it does not. */
export function differences(expected: unknown, got: unknown, where = "output"): string[] {
  if (expected === "Any") {
    return [];
  }
  if (isItem(expected) && (expected["class"] === "File" || expected["class"] === "Directory")) {
    return isItem(got) && got["class"] === expected["class"]
      ? fileDifferences(expected, got, where)
      : [`${where}: expected a ${text(expected["class"])}, got ${toJson(got)}`];
  }
  if (isItem(expected)) {
    if (!isItem(got)) {
      return [`${where}: expected an object, got ${toJson(got)}`];
    }
    return [...new Set([...Object.keys(expected), ...Object.keys(got)])].flatMap((key) =>
      (expected[key] ?? null) === null && (got[key] ?? null) === null
        ? []
        : differences(expected[key], got[key], `${where}.${key}`),
    );
  }
  if (Array.isArray(expected)) {
    return !Array.isArray(got) || got.length !== expected.length
      ? [`${where}: expected ${expected.length} items, got ${toJson(got)}`]
      : expected.flatMap((item, index) => differences(item, got[index] as unknown, `${where}[${index}]`));
  }
  return isSame(expected, got) ? [] : [`${where}: expected ${toJson(expected)}, got ${toJson(got)}`];
}

/** Integers that a double cannot hold are read as such where their digits are written out, which runners may do or not. */
function isSame(expected: unknown, got: unknown): boolean {
  const isMixed = typeof expected !== typeof got && [expected, got].some((value) => typeof value === "bigint");
  return expected === got || (isMixed && Number(expected) === Number(got));
}

function fileDifferences(expected: Item, got: Item, where: string): string[] {
  const path = locationOf(got);
  if (!existsSync(path)) {
    return [`${where}: nothing is at ${toJson(path)}`];
  }
  const found: string[] = [];
  const location = expected["location"] ?? expected["path"] ?? "Any";
  if (location !== "Any" && !`/${path}`.endsWith(`/${decodeURIComponent(text(location))}`)) {
    found.push(`${where}: expected location ${text(location)}, got ${path}`);
  }
  if (![undefined, "Any", basename(path)].includes(expected["basename"] as string | undefined)) {
    found.push(`${where}: expected basename ${text(expected["basename"])}`);
  }
  if (expected["class"] === "File") {
    const content = readFileSync(path);
    const actual: Item = {
      size: content.length,
      checksum: `sha1$${createHash("sha1").update(content).digest("hex")}`,
      contents: content.toString(),
    };
    for (const key of ["size", "checksum", "contents"]) {
      if (expected[key] !== undefined && expected[key] !== "Any" && expected[key] !== actual[key]) {
        found.push(`${where}: expected ${key} ${text(expected[key])}, got ${text(actual[key]).slice(0, 200)}`);
      }
      if (key !== "contents" && got[key] !== undefined && got[key] !== actual[key]) {
        found.push(`${where}: the runner claims ${key} ${text(got[key])}, but it is ${text(actual[key])}`);
      }
    }
  }
  for (const key of ["secondaryFiles", "listing"]) {
    found.push(...listDifferences(expected[key], got[key], key === "listing" ? path : undefined, `${where}.${key}`));
  }
  const own = new Set([
    "class",
    "location",
    "path",
    "basename",
    "size",
    "checksum",
    "contents",
    "secondaryFiles",
    "listing",
  ]);
  for (const key of Object.keys(expected).filter((name) => !own.has(name))) {
    found.push(...differences(expected[key], got[key], `${where}.${key}`));
  }
  return found;
}

/** Lists of files match in any order. */
function listDifferences(expected: unknown, got: unknown, folder: string | undefined, where: string): string[] {
  if (!Array.isArray(expected)) {
    return [];
  }
  let rest = Array.isArray(got) ? [...(got as unknown[])] : [];
  if (rest.length === 0 && folder !== undefined) {
    rest = readdirSync(folder).map((name) => {
      const path = join(folder, name);
      return { class: statSync(path).isDirectory() ? "Directory" : "File", path };
    });
  }
  const found: string[] = [];
  for (const item of expected as unknown[]) {
    const index = rest.findIndex((candidate) => differences(item, candidate).length === 0);
    if (index === -1) {
      found.push(`${where}: nothing matches ${toJson(item)}`);
    } else {
      rest.splice(index, 1);
    }
  }
  return rest.length === 0 ? found : [...found, `${where}: unexpected ${toJson(rest)}`];
}

function locationOf(item: Item): string {
  const location = text(item["location"] ?? item["path"] ?? "");
  return location.startsWith("file://") ? fileURLToPath(location) : location;
}

function isItem(value: unknown): value is Item {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : toJson(value ?? null);
}
