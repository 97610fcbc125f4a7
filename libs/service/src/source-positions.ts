import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** A position in a bundle, as stack traces have it. */
const POSITION = /((?:file:\/\/)?\/[^\s()"]+\.mjs):(\d+):(\d+)/g;

/** By bundle; there are no more than a program has files. */
const maps = new Map<string, SourceMap | undefined>();

/** The text with positions in the sources where it has positions in bundles: those are what people can read. */
export function nameSourcePositions(text: string): string {
  return text.includes(".mjs:")
    ? text.replace(POSITION, (position, address: string, line: string, column: string) => {
        const file = address.startsWith("file:") ? fileURLToPath(address) : address;
        const found = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
        return found === undefined || !("originalSource" in found)
          ? position
          : `${resolve(dirname(file), found.originalSource)}:${found.originalLine + 1}:${found.originalColumn + 1}`;
      })
    : text;
}

function mapOf(bundle: string): SourceMap | undefined {
  if (!maps.has(bundle)) {
    maps.set(bundle, readMap(`${bundle}.map`));
  }
  return maps.get(bundle);
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, "utf8")) as ConstructorParameters<typeof SourceMap>[0]);
  } catch {
    // Of another package, or removed: the position in the file that ran is better than no line in the log.
    return undefined;
  }
}
