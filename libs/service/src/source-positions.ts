import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** The bundles that this process runs from; undefined where it runs from sources. */
const [, program = ""] = process.argv;
const folder = program.endsWith(".mjs") ? dirname(program) : undefined;
/** A position in one of them, as stack traces have it. Lines of a log hold texts of strangers, too: no other file is opened for them. */
const POSITION = folder === undefined ? undefined : createPattern(folder);

/** By bundle; there are no more than a program has files. */
const maps = new Map<string, SourceMap>();

/** The text with positions in the sources where it has positions in bundles: those are what people can read. */
export function nameSourcePositions(text: string): string {
  if (folder === undefined || POSITION === undefined || !text.includes(".mjs:")) {
    return text;
  }
  return text.replace(POSITION, (position, name: string, line: string, column: string) => {
    const found = mapOf(join(folder, name))?.findEntry(Number(line) - 1, Number(column) - 1);
    return found === undefined || !("originalSource" in found)
      ? position
      : `${resolve(folder, found.originalSource)}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  });
}

function createPattern(place: string): RegExp {
  const [address, path] = [pathToFileURL(place).href, place].map((text) => text.replaceAll(/[^\w/]/g, "\\$&"));
  return new RegExp(`(?:${address}|${path})/([\\w.-]{1,200}\\.mjs):(\\d{1,9}):(\\d{1,9})`, "g");
}

function mapOf(bundle: string): SourceMap | undefined {
  const map = maps.get(bundle) ?? readMap(`${bundle}.map`);
  if (map !== undefined) {
    maps.set(bundle, map);
  }
  return map;
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, "utf8")) as ConstructorParameters<typeof SourceMap>[0]);
  } catch {
    // Not there: the position in the file that ran is better than no line in the log.
    return undefined;
  }
}
