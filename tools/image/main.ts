// `npm run image [-- --tag NAME --base IMAGE --archive FILE --sbom FILE --compression fast]`: builds the container image that holds every service.
//
//   --tag       its name, swath:<version> when left out (what SWATH_IMAGE is when nobody sets it)
//   --base      what it is built on; when left out the public Node.js image, or one made of this machine's Node.js and
//               libraries where that cannot be pulled
//   --archive   also write it as a docker-archive, to carry to a cluster without a registry
//   --sbom      also write what it is made of (CycloneDX), which is /app/sbom.cdx.json in it
//   --compression  how hard pages are compressed, best when left out; fast for an image that is tried and thrown away
//
// Needs buildah or podman.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { buildWebPages } from "../../cli/web-pages.ts";
import { MATERIALS, prepareContext } from "./context.ts";
import { layOutMachineBase, pinnedNodeVersion } from "./host-rootfs.ts";

const PUBLIC_BASE = "docker.io/library/node:24-slim";
const root = join(import.meta.dirname, "../..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const { values } = parseArgs({
  options: {
    tag: { type: "string", default: `swath:${version}` },
    base: { type: "string" },
    archive: { type: "string" },
    sbom: { type: "string" },
    compression: { type: "string", default: "best" },
  },
});
const engine = ["buildah", "podman"].find((name) => spawnSync(name, ["--version"]).status === 0);
if (engine === undefined) {
  console.error(
    "image: neither buildah nor podman is installed; install one of them (Debian: apt-get install buildah)",
  );
  process.exit(1);
}

const work = mkdtempSync(join(tmpdir(), "swath-image-"));
try {
  const started = performance.now();
  await buildWebPages({ stdout: process.stdout, compression: values.compression === "fast" ? "fast" : "best" });
  const base = values.base ?? findBase();
  const context = join(work, "context");
  prepareContext(root, context);
  build(context, base, values.tag);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`built ${values.tag} on ${base} in ${seconds} s: ${sizeOf(values.tag)}`);
  if (values.sbom !== undefined) {
    copyFileSync(join(context, "app", MATERIALS), values.sbom);
    console.log(`wrote ${values.sbom}`);
  }
  if (values.archive !== undefined) {
    rmSync(values.archive, { force: true });
    run(["push", "--quiet", values.tag, `docker-archive:${values.archive}:${fullName(values.tag)}`]);
    console.log(`wrote ${values.archive}`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** The public base where it is here or can be pulled, else one of this machine's files. */
function findBase(): string {
  const isPublic = spawnSync(engine ?? "", ["pull", "--quiet", PUBLIC_BASE], { timeout: 60_000 }).status === 0;
  if (isPublic) {
    return PUBLIC_BASE;
  }
  const name = `localhost/swath-base:${pinnedNodeVersion(root)}`;
  console.log(`${PUBLIC_BASE} cannot be pulled; building on this machine's Node.js ${process.versions.node}`);
  const folder = join(work, "base");
  layOutMachineBase(join(folder, "root"), process.execPath);
  writeFileSync(join(folder, "Containerfile"), "FROM scratch\nCOPY root /\nENV PATH=/usr/local/bin:/usr/bin:/bin\n");
  build(folder, "scratch", name);
  return name;
}

function build(context: string, base: string, tag: string): void {
  chmodSync(context, 0o755);
  run([
    "build",
    "--quiet",
    // One commit, one image: no time of building in it.
    "--timestamp=0",
    "--layers=false",
    ...(engine === "buildah" ? ["--isolation=chroot"] : []),
    "--build-arg",
    `BASE=${base}`,
    "--tag",
    tag,
    "--file",
    join(context, "Containerfile"),
    context,
  ]);
}

/** As a cluster reads a name without a registry: builders call the same thing `localhost/…`. */
function fullName(tag: string): string {
  const [first = "", ...rest] = tag.split("/");
  const hasRegistry = rest.length > 0 && /[.:]|^localhost$/.test(first);
  return hasRegistry ? tag : `docker.io/${rest.length > 0 ? "" : "library/"}${tag}`;
}

function sizeOf(tag: string): string {
  return spawnSync(engine ?? "", ["images", "--format", "{{.Size}}", tag], { encoding: "utf8" }).stdout.trim();
}

function run(args: readonly string[]): void {
  const { status } = spawnSync(engine ?? "", args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) {
    throw new Error(`${engine} ${args[0]} ended with status ${status}`);
  }
}
