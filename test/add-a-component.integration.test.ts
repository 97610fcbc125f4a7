// Needs: curl
import assert from "node:assert/strict";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";

import { findFreePorts, runCommand } from "@swath/testing";

// The guide is followed in a copy of the checkout: its files are made, its commands typed.
const ROOT = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "swath-guide-"));
chmodSync(folder, 0o711);
const checkout = join(folder, "swath");
const [port, tlsPort] = await findFreePorts(2);
const env: NodeJS.ProcessEnv = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
  SWATH_STATE_DIR: join(folder, "state"),
  LOCALCLUSTER_EXTRA_OPTIONS: `--ports=${port}:80,${tlsPort}:443`,
};
after(async () => {
  await runCommand(join(checkout, "bin/swath"), ["cluster", "delete", "swath", "--yes"], { env });
  rmSync(folder, { recursive: true, force: true });
});

test("the guide to adding a component, file by file and command by command", async () => {
  for (const part of [
    "bin",
    "cli",
    "components",
    "deploy",
    "libs",
    "tools",
    "package.json",
    "package-lock.json",
    "tsconfig.web.json",
    "tsconfig.json",
  ]) {
    cpSync(join(ROOT, part), join(checkout, part), {
      recursive: true,
      verbatimSymlinks: true,
      // Other tests may be building pages there, which come and go; it builds its own.
      filter: (path) => !/\/web\/dist/.test(path),
    });
  }
  symlinkSync(join(ROOT, "node_modules"), join(checkout, "node_modules"));
  const guide = readFileSync(join(ROOT, "docs/how-to/add-a-component.md"), "utf8");
  const files = [...guide.matchAll(/`(components\/\S+)`:\n\n```\w+\n(.*?)^```$/gms)];
  assert.equal(files.length, 5);
  for (const [, path = "", text = ""] of files) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), text);
  }
  const commands = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)]
    .map(([, block = ""]) => block.replaceAll(".swath.localhost", `.swath.localhost:${port}`))
    .join("\n");
  const { status, stdout, stderr } = await runCommand("bash", ["-euo", "pipefail"], {
    cwd: checkout,
    env,
    input: commands,
  });
  assert.equal(status, 0, `${stdout}${stderr}`.slice(-3000));
  assert.match(stdout, /^demo +greeting-\S+ +1\/1 +Running/m);
  assert.match(stdout, /^401\n\{"message":"Good day, eric!"\}$/m);
});
