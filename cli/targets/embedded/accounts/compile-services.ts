// `compile-services.ts FOLDER`: loads every program of the components once, so that Node.js keeps their compiled code in FOLDER for
// services that may only read there. Does nothing where that is done for this code, or is being done.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";

import { listPrograms, openBundles } from "../../../programs/bundles.ts";
import { createCodeVersions, repositoryRoot } from "../launch/code-version.ts";
import { readJsonFile, writeJsonFile } from "../state/json-file.ts";
import { NameTakenError, acquireLock } from "../supervisor/single-instance.ts";

/** Tools of the example packages, which run in sandboxes. */
const EXAMPLES = "examples/tools/main.ts";
const LONGEST_MS = 120_000;
const [folder = ""] = process.argv.slice(2);
try {
  await acquireLock(`compile${folder}`);
  compileAll();
} catch (error) {
  if (!(error instanceof NameTakenError)) {
    throw error;
  }
}

function compileAll(): void {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const record = join(folder, "compiled.json");
  const done = new Map(Object.entries(readJsonFile<Record<string, string>>(record) ?? {}));
  const codeVersion = createCodeVersions();
  const bundleOf = openBundles(codeVersion);
  for (const program of [...listPrograms(), EXAMPLES]) {
    const file = bundleOf(program) ?? join(repositoryRoot, program);
    const version = `${process.version} ${file} ${codeVersion(program.split("/").slice(0, 2).join("/"))}`;
    if (done.get(program) !== version) {
      // It ends by itself: the address to listen on is none.
      spawnSync(process.execPath, [file], {
        stdio: "ignore",
        env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent", LISTEN: "nowhere", NODE_COMPILE_CACHE: folder },
        timeout: LONGEST_MS,
        killSignal: "SIGKILL",
      });
      openToReaders();
      done.set(program, version);
      writeJsonFile(record, Object.fromEntries(done));
    }
  }
}

/** Node.js makes files that only their owner can read; there is nothing secret in compiled code. */
function openToReaders(): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isDirectory()) {
      chmodSync(join(entry.parentPath, entry.name), 0o755);
    } else if (entry.name !== "compiled.json") {
      chmodSync(join(entry.parentPath, entry.name), 0o644);
    }
  }
}
