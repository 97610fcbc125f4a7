// `compile-services.ts FOLDER`: loads every program of the components once, so that Node.js keeps their compiled code in FOLDER for
// services that may only read there. Does nothing where that is done for this code, or is being done.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, globSync, mkdirSync, readdirSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";

import { createCodeVersions, repositoryRoot } from "../launch/code-version.ts";
import { readJsonFile, writeJsonFile } from "../state/json-file.ts";
import { NameTakenError, acquireLock } from "../supervisor/single-instance.ts";

const INGRESS_FOLDER = "cli/targets/embedded/ingress";
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
  const file = join(folder, "compiled.json");
  const done = new Map(Object.entries(existsSync(file) ? (readJsonFile<Record<string, string>>(file) ?? {}) : {}));
  const codeVersion = createCodeVersions();
  const programs = globSync(["components/*/main.ts", "components/*/*/main.ts"], { cwd: repositoryRoot }).sort();
  for (const program of [join(INGRESS_FOLDER, "main.ts"), ...programs, EXAMPLES]) {
    const folderOfCode = program.startsWith(INGRESS_FOLDER) ? INGRESS_FOLDER : program.split("/").slice(0, 2).join("/");
    const version = `${process.version} ${codeVersion(folderOfCode)}`;
    if (done.get(program) !== version) {
      // It ends by itself: the address to listen on is none.
      spawnSync(process.execPath, [join(repositoryRoot, program)], {
        stdio: "ignore",
        env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent", LISTEN: "nowhere", NODE_COMPILE_CACHE: folder },
        timeout: LONGEST_MS,
        killSignal: "SIGKILL",
      });
      openToReaders();
      done.set(program, version);
      writeJsonFile(file, Object.fromEntries(done));
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
