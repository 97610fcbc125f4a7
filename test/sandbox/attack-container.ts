import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { ATTACKS } from "./attacks.ts";

const SECRET = "a-secret-of-the-host";
/** Fewer mean that the table lost what it is for. */
const FEWEST_ATTACKS = 8;

/** Runs a command in a container and gives all that it printed, whatever its status. */
export type Exec = (command: readonly string[]) => Promise<string>;

/**
 * Runs the table of attacks in a container of a machine that the test runs on, or of a pod there.
 * @param busybox path of busybox in the container
 * @param around folder of the machine in which a secret is put for a moment
 * @throws {assert.AssertionError} with all attacks that were not held
 */
export async function attackContainer(
  exec: Exec,
  {
    busybox,
    around,
    hasNetwork = false,
  }: { readonly busybox: string; readonly around: string; readonly hasNetwork?: boolean },
): Promise<void> {
  const folder = mkdtempSync(join(around, "swath-attacks-"));
  const server = createServer((socket) => socket.end("BROKEN"));
  try {
    writeFileSync(join(folder, "secret"), SECRET);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { readonly port: number };
    const surroundings = { folder, secret: SECRET, port, descriptor: 123, process: process.pid, hasNetwork };
    const applets = "/tmp/attack-applets";
    await exec([busybox, "sh", "-c", `${busybox} mkdir -p ${applets}; ${busybox} --install -s ${applets}`]);
    const failures: string[] = [];
    let held = 0;
    for (const { title, inContainers = {}, ...attack } of ATTACKS) {
      if ("skip" in inContainers) {
        continue;
      }
      const { script, holds, breaks } = { ...attack, ...inContainers };
      const said = await exec([busybox, "sh", "-c", `export PATH=${applets}; ${script(surroundings)}`]);
      if (!holds.test(said) || breaks?.test(said) === true) {
        failures.push(`${title}: ${said.trim().slice(-400)}`);
      } else {
        held += 1;
      }
    }
    assert.deepEqual(failures, []);
    assert.ok(held >= FEWEST_ATTACKS, `${held} attacks were tried`);
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
