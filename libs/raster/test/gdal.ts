import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "../../..");

/** Scenes of this repository. */
export const SCENES = join(root, "examples/scenes");
/** More scenes, beside the repository. */
// oxlint-disable-next-line node/no-process-env -- a fixture of tests
export const SHARED_DATA = join(process.env["SWATH_SHARED"] ?? join(root, "../shared"), "data");

/** Why tests against GDAL are skipped; false when they are not. */
export function gdalSkipReason(): string | false {
  return spawnSync("gdalinfo", ["--version"]).status === 0
    ? false
    : "GDAL's programs are not installed (package gdal-bin)";
}

export function sharedSkipReason(path: string): string | false {
  return (
    gdalSkipReason() ||
    (existsSync(join(SHARED_DATA, path)) ? false : `there is no ${path} in ${SHARED_DATA} (set SWATH_SHARED)`)
  );
}

export function makeFolder(context: { after: (work: () => void) => void }): string {
  const folder = mkdtempSync(join(tmpdir(), "raster-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function runGdal(program: string, args: readonly string[]): string {
  return execFileSync(program, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 64 * 1024 * 1024,
  });
}

/** All pixels as GDAL reads them, band after band. */
export function readWithGdal(path: string, folder: string): Float64Array {
  const raw = join(folder, "expected.raw");
  runGdal("gdal_translate", ["-q", "-of", "ENVI", "-co", "INTERLEAVE=BSQ", "-ot", "Float64", path, raw]);
  const bytes = readFileSync(raw);
  return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}
