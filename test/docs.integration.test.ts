// Needs: curl
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";

import { findFreePorts, runCommand } from "@swath/testing";

// The commands in the documentation (blocks marked `sh`) are typed as a newcomer would, with a state folder and ports of their own.
const ROOT = join(import.meta.dirname, "..");
const state = mkdtempSync(join(tmpdir(), "swath-docs-"));
chmodSync(state, 0o711);
const [port, tlsPort] = await findFreePorts(2);
const env: NodeJS.ProcessEnv = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
  SWATH_STATE_DIR: state,
  XDG_CONFIG_HOME: state,
  LOCALCLUSTER_EXTRA_OPTIONS: `--ports=${port}:80,${tlsPort}:443`,
};
after(async () => {
  await runCommand(join(ROOT, "bin/swath"), ["cluster", "delete", "swath", "--yes"], { env });
  rmSync(state, { recursive: true, force: true });
});

function readBlocks(file: string): readonly string[] {
  const text = readFileSync(join(ROOT, "docs", file), "utf8");
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) =>
    // Ports 80 and 443 may be somebody else's here, and so may files in /tmp.
    block.replaceAll(".swath.localhost", `.swath.localhost:${port}`).replaceAll("/tmp/", `${state}/`),
  );
}

/** Types the blocks into one shell, which ends at the first command that fails. */
async function type(blocks: readonly string[]): Promise<string> {
  const shell = spawn("bash", ["-euo", "pipefail"], { cwd: ROOT, env, stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  shell.stdin.end(blocks.map((block) => `set -x\n${block}`).join("\n"));
  const [status] = (await once(shell, "close")) as [number];
  assert.equal(status, 0, output.slice(-4000));
  return output;
}

/** Names in the first column of the metrics' table; what ends in an asterisk stands for all that begin so. */
function readMetricNames(): readonly string[] {
  const text = readFileSync(join(ROOT, "docs/reference/metrics.md"), "utf8");
  return [...text.matchAll(/^\| (`[^|]+`) +\|/gm)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`(\w+)\*?`/g)].map(([, name = ""]) => name),
  );
}

test("the tutorial and the guides, command by command", async () => {
  const tutorial = readBlocks("tutorial.md");
  const pages = readdirSync(join(ROOT, "docs/tutorial")).toSorted();
  assert.ok(pages.length >= 7);
  const guides = ["how-to/troubleshooting.md", "how-to/package-an-application.md"].flatMap(readBlocks);
  const output = await type([
    ...tutorial.slice(0, -1),
    ...pages.flatMap((page) => readBlocks(`tutorial/${page}`)),
    ...guides,
  ]);
  assert.match(output, /Ready after/);
  assert.match(output, /"StacCatalogUri": *"s3:\/\/results\/processing-results\//);
  const refused = output.match(/answered 404: There is no collection/g) ?? [];
  assert.ok(refused.length >= 2, "bob is refused in the tour, and on the page about sharing");
  assert.match(output, /^9\. The same as QGIS/m);
  const metrics = readMetricNames();
  assert.ok(metrics.length > 10);
  for (const name of metrics) {
    assert.match(output, new RegExp(`^# HELP ${name}`, "m"));
  }
  assert.match(await type(tutorial.slice(-1)), /removed \d+ pods/);
});

test("links between documents lead somewhere", () => {
  const broken = globSync(["*.md", "docs/**/*.md", "{components,libs,examples}/**/README.md"], {
    cwd: ROOT,
    exclude: (path) => path.includes("node_modules"),
  }).flatMap((file) =>
    [...readFileSync(join(ROOT, file), "utf8").matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !existsSync(join(ROOT, dirname(file), target)))
      .map((target) => `${file} links to ${target}, which does not exist`),
  );
  assert.deepEqual(broken, []);
});
