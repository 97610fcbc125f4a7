// `make-bundles.ts FOLDER`: puts the modules of every program into few files, which start several times as fast as hundreds. Does
// nothing where that is done for this code; waits for another one that is at it.
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { rolldown } from "rolldown";

import { repositoryRoot } from "../targets/embedded/launch/code-version.ts";
import { writeJsonFile } from "../targets/embedded/state/json-file.ts";
import { NameTakenError, acquireLock } from "../targets/embedded/supervisor/single-instance.ts";
import { type BundleList, LIST, codeVersionOfAll, listPrograms, readBundles } from "./bundles.ts";
import { keepPlaces } from "./keep-places.ts";

/** Services that run from an older bundle load parts of it when they first need them. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const LOCK_POLL_MS = 50;

const [folder = ""] = process.argv.slice(2);
const release = await waitForLock(`bundles${folder}`);
const version = codeVersionOfAll();
if (readBundles(folder)?.version !== version) {
  await makeBundles();
}
release();

async function makeBundles(): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const programs = listPrograms();
  const bundle = await rolldown({
    input: Object.fromEntries(programs.map((program) => [nameOf(program), join(repositoryRoot, program)])),
    platform: "node",
    plugins: [keepPlaces()],
    logLevel: "silent",
  });
  const { output } = await bundle.write({
    dir: folder,
    format: "esm",
    sourcemap: "hidden",
    sourcemapExcludeSources: true,
    keepNames: true,
    entryFileNames: "[name]-[hash].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  await bundle.close();
  const files: BundleList["files"] = Object.fromEntries(
    programs.map((program) => [
      program,
      output.find((file) => file.type === "chunk" && file.isEntry && file.name === nameOf(program))?.fileName ?? "",
    ]),
  );
  const made = new Set(output.map(({ fileName }) => fileName));
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (made.has(name)) {
      chmodSync(path, 0o644);
    } else if (name !== LIST && Date.now() - statSync(path).mtimeMs > KEPT_MS) {
      rmSync(path, { recursive: true, force: true });
    }
  }
  writeJsonFile(join(folder, LIST), { version, files } satisfies BundleList);
}

/** `components/ades/runner/main.ts` is `components.ades.runner`. */
function nameOf(program: string): string {
  return program.replace(/\/main\.ts$/, "").replaceAll("/", ".");
}

async function waitForLock(name: string): Promise<() => void> {
  for (;;) {
    try {
      return await acquireLock(name);
    } catch (error) {
      if (!(error instanceof NameTakenError)) {
        throw error;
      }
      await sleep(LOCK_POLL_MS);
    }
  }
}
