// `make-bundles.ts FOLDER`: puts the modules of every program into few files, which start several times as fast as hundreds. Does
// nothing where that is done for this code; waits for another one that is at it.
import { chmodSync, globSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { rolldown } from "rolldown";

import { repositoryRoot } from "../targets/embedded/launch/code-version.ts";
import { writeJsonFile } from "../targets/embedded/state/json-file.ts";
import { NameTakenError, acquireLock } from "../targets/embedded/supervisor/single-instance.ts";
import { type BundleList, LIST, codeVersionOfAll, listPrograms, readBundles } from "./bundles.ts";
import { keepPlaces, nameBundle } from "./keep-places.ts";

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
    input: Object.fromEntries(programs.map((program) => [nameBundle(program), join(repositoryRoot, program)])),
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
      output.find((file) => file.type === "chunk" && file.isEntry && file.name === nameBundle(program))?.fileName ?? "",
    ]),
  );
  const all = output.map(({ fileName }) => fileName);
  // Accounts of services read them, whatever the mask of who deploys.
  chmodSync(folder, 0o755);
  all.forEach((name) => chmodSync(join(folder, name), 0o644));
  const before = readBundles(folder);
  const earlier = before === undefined ? [] : [before.all, ...before.earlier.filter(createUseCheck(folder))];
  writeJsonFile(join(folder, LIST), { version, files, all, earlier } satisfies BundleList);
  const kept = new Set([LIST, ...all, ...earlier.flat()]);
  for (const name of readdirSync(folder).filter((each) => !kept.has(each))) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Finds out whether a process was started from one of these files: it loads others of them when it first needs them. */
function createUseCheck(folder: string): (names: readonly string[]) => boolean {
  const started = globSync("/proc/[0-9]*/cmdline").flatMap((file) => readCommand(file));
  return (names) => started.some((argument) => names.some((name) => argument === join(folder, name)));
}

function readCommand(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").split("\0");
  } catch {
    // The process has ended.
    return [];
  }
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
