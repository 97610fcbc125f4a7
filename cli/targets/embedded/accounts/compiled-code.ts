import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { basename, dirname, join } from "node:path";

import { ensureBundles } from "../../../programs/bundles.ts";
import { inheritedEnvironment } from "../supervisor/pod-environment.ts";

/**
 * Lets accounts read code that root compiled. Node.js keeps compiled code for each user apart, in `<version>-<user>`; code that a
 * service wrote must not be run by another one, so that each has a link to what root made, and writes nothing.
 * @param folder where links are made; NODE_COMPILE_CACHE of the accounts
 */
export function linkCompiledCode(folder: string, uids: readonly number[]): void {
  const own = getCompileCacheDir();
  if (own === undefined) {
    return;
  }
  const shared = join(dirname(dirname(own)), "services");
  const name = basename(own);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  for (const uid of new Set(uids)) {
    const link = join(folder, name.replace(/-0$/, `-${uid}`));
    const target = join(shared, name);
    if (!existsSync(link) || readlinkSync(link) !== target) {
      rmSync(link, { force: true });
      symlinkSync(target, link);
    }
  }
}

/** Compiles what is not yet, in the background, for the starts to come. */
export function compileServices(): void {
  const compiler = startCompiler();
  // Without it everything runs, and starts more slowly.
  compiler?.on("error", () => {});
  compiler?.unref();
}

/** The same, and waits until it is done: services that start meanwhile would compile all of their code themselves. */
export async function waitUntilCompiled(): Promise<void> {
  await ensureBundles();
  const compiler = startCompiler();
  if (compiler !== undefined) {
    await once(compiler, "exit").catch(() => {});
  }
}

function startCompiler(): ChildProcess | undefined {
  const own = getCompileCacheDir();
  if (own === undefined) {
    return undefined;
  }
  const shared = join(dirname(dirname(own)), "services");
  return spawn(process.execPath, [join(import.meta.dirname, "compile-services.ts"), shared], {
    detached: true,
    stdio: "ignore",
    env: { ...inheritedEnvironment(), NODE_COMPILE_CACHE: shared },
  });
}
