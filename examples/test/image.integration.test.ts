import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { buildImage } from "../image/build.ts";

const run = promisify(execFile);
const examples = join(import.meta.dirname, "..");
const swath = join(examples, "../bin/swath");

const skip = !["/usr/bin/podman", "/usr/sbin/runc"].every((program) => existsSync(program))
  ? "podman or runc is not installed (Debian packages podman, runc)"
  : process.getuid?.() !== 0 && "needs root here: limits of containers are lowered for machines that cannot raise them";

const IMAGE = "localhost/swath-examples:1.0.0";

/** Lets podman work as root on a machine whose limits cannot be raised. */
const CONTAINERS_CONF = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
events_logger = "none"
`;

test("in a container, without network, the results are the same to the byte", { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "examples-image-"));
  let isOurs = false;
  // One function, because the image must go while podman's settings are still there.
  t.after(async () => {
    if (isOurs) {
      await run("podman", ["rmi", IMAGE], { env });
    }
    await rm(folder, { recursive: true, force: true });
  });
  const conf = join(folder, "containers.conf");
  await writeFile(conf, CONTAINERS_CONF);
  const env = { PATH: `${examples}/bin:/usr/bin:/bin:/usr/sbin`, CONTAINERS_CONF: conf, HOME: "/root" };
  isOurs = await run("podman", ["image", "exists", IMAGE], { env }).then(
    () => false,
    () => true,
  );
  assert.equal(buildImage("podman", env), IMAGE);
  const results: Buffer[] = [];
  for (const where of [["--engine", "podman"], ["--no-container"]]) {
    const outdir = join(folder, where.join(""));
    const document = `${examples}/packages/cloud-free-mosaic.cwl#cloud-free-mosaic`;
    const inputs = join(examples, "inputs/cloud-free-mosaic.yml");
    await run(swath, ["cwl", "run", ...where, "--quiet", "--outdir", outdir, document, inputs], { env });
    const [path = ""] = globSync("**/mosaic_red.tif", { cwd: outdir });
    results.push(await readFile(join(outdir, path)));
  }
  assert.ok((results[0]?.length ?? 0) > 10_000);
  assert.ok(results[0]?.equals(results[1] ?? Buffer.alloc(0)));
});
