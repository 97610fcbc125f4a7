import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { LAYOUT_MARK, LAYOUT_PARTS, type Layout } from "../../targets/kubernetes/render/layout.ts";
import { CommandError } from "../command.ts";

/**
 * Writes the files of a tree into a folder. What an earlier template wrote there is replaced; what others wrote is not touched.
 * @throws {CommandError} where the folder has files of somebody else in the way
 */
export function writeLayout(folder: string, layout: Layout, files: ReadonlyMap<string, string>): void {
  const { objects, main } = LAYOUT_PARTS[layout];
  const mainFile = join(folder, main);
  const isOurs = existsSync(mainFile) && readFileSync(mainFile, "utf8").startsWith(LAYOUT_MARK);
  const inTheWay = [main, objects].find((name) => existsSync(join(folder, name)));
  if (!isOurs && inTheWay !== undefined) {
    throw new CommandError(`${join(folder, inTheWay)} was not written by template; choose another folder`);
  }
  try {
    rmSync(join(folder, objects), { recursive: true, force: true });
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  } catch (error) {
    throw new CommandError(`cannot write to ${folder}: ${(error as Error).message}`);
  }
}
