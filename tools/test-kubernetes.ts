// `npm run test:kubernetes [-- part of a file's name …]`: the platform on a real cluster.
//
// The cluster is that of KUBECONFIG; else one that ../shared/kubernetes/cluster starts, where that is there and this is root; it is
// taken away afterwards. Without any, it says why and ends well. SWATH_IMAGE names an image that the cluster has; else one is built and given to it.
// In CI (variable CI=true) what takes long and is covered in part elsewhere is left out; SWATH_TEST_WHOLE=true runs it there, too. The tour needs
// the examples' image: podman builds it, or SWATH_TEST_EXAMPLES_IMAGE names one that the cluster has.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { buildImage } from "../examples/image/build.ts";
import { isWhole } from "../test/kubernetes/support/on-demand.ts";
import { findFailedFiles } from "./test-failures.ts";

const root = join(import.meta.dirname, "..");
/** Networks of a cluster that is started here. */
const SERVICES = "10.96.0.0/16";
const PODS = "10.244.0.0/16";
/** Name of the image that is built here. */
const TAG = "swath:test";
/** More failing files than these are no accident: they are not run again. */
const MAX_FILES_AGAIN = 3;
const shared = process.env["SWATH_SHARED"] ?? join(root, "../shared");
const cluster = join(shared, "kubernetes/cluster");
const canStart = existsSync(cluster) && process.getuid?.() === 0;
const env: NodeJS.ProcessEnv = { ...process.env };
const only = process.argv.slice(2);

let started = false;
if (env["KUBECONFIG"] === undefined) {
  if (!existsSync(cluster)) {
    skip(`${cluster}, which starts one, is not there`);
  }
  if (process.getuid?.() !== 0) {
    skip("starting one needs root");
  }
  env["KUBECONFIG"] = "/var/tmp/test-kubernetes/kubeconfig";
  started = !isReachable();
  if (started) {
    if (canOverlay()) {
      // For tests, too: they start nodes again.
      env["PATH"] = `${join(root, "tools/overlay-containerd")}:${env["PATH"] ?? ""}`;
    }
    console.log("starting a cluster; its programs are built first where this machine has none (8 minutes, once)");
    if (!startCluster()) {
      run(cluster, ["down"]);
      skip("it could not be started; what it said is above");
    }
  }
}
if (!isReachable()) {
  if (started) {
    run(cluster, ["down"]);
  }
  skip("that of KUBECONFIG does not answer");
}
const kept = started ? keepInside() : [];
const imageFolder = mkdtempSync(join(tmpdir(), "swath-test-image-"));
const ownFailures = env["SWATH_TEST_FAILURES"] === undefined;
const failures = (env["SWATH_TEST_FAILURES"] ??= mkdtempSync(join(tmpdir(), "swath-test-failures-")));
try {
  const ownImage = env["SWATH_IMAGE"] === undefined ? buildPlatform() : undefined;
  if (ownImage !== undefined) {
    giveImage(ownImage);
  }
  if (ownImage !== undefined && isWhole && env["SWATH_TEST_EXAMPLES_IMAGE"] === undefined) {
    giveExamples();
  }
  // Only a cluster that nobody else uses is broken on purpose.
  if (canStart && (started || env["CI"] === "true")) {
    env["SWATH_TEST_CLUSTER_START"] = `${cluster} up`;
  }
  const test = (suite: string, files: readonly string[]) =>
    run(process.execPath, [join(root, "tools/test.ts"), suite, ...files]);
  let whole = test("kubernetes", only);
  if (whole !== 0 && started && env["CI"] === "true") {
    whole = testAgain(test, ownImage);
  }
  // What components do with a cluster by themselves: part of `npm test` too, which skips them where there is none.
  const parts =
    only.length > 0 ? 0 : test("integration", ["pod-executor", "jobs-as-pods", "namespaces", "kubernetes/template"]);
  process.exitCode = whole || parts;
} finally {
  for (const rule of kept) {
    run("iptables", ["-D", ...rule]);
  }
  rmSync(imageFolder, { recursive: true, force: true });
  if (ownFailures) {
    rmSync(failures, { recursive: true, force: true });
  }
  if (started && env["SWATH_TEST_KEEP_CLUSTER"] === undefined) {
    run(cluster, ["down"]);
  }
}

/**
 * Rules by which nothing for the networks of services and pods leaves this machine. kube-proxy changes its tables one after the other: a
 * connection opened in between would go out by the default route, to whoever answers there, and be kept.
 */
function keepInside(): readonly (readonly string[])[] {
  const { stdout } = spawnSync("ip", ["-o", "route", "show", "default"], { encoding: "utf8" });
  const device = / dev (\S+)/.exec(stdout)?.[1];
  if (device === undefined) {
    return [];
  }
  // What this machine sends to a service has a pod's address by then, and the device of the route that it had before.
  const rules = [
    ["OUTPUT", SERVICES],
    ["FORWARD", SERVICES],
    ["FORWARD", PODS],
  ].map(([chain = "", network = ""]) => [chain, "-o", device, "-d", network, "-j", "REJECT"]);
  return rules.filter((rule) => run("iptables", ["-I", ...rule]) === 0);
}

/** Whether file systems can be laid over each other where the cluster has its images. */
function canOverlay(): boolean {
  const folder = mkdtempSync("/var/tmp/swath-overlay-");
  const make = (name: string) => {
    const path = join(folder, name);
    mkdirSync(path);
    return path;
  };
  const options = `lowerdir=${make("lower")},upperdir=${make("upper")},workdir=${make("work")}`;
  const merged = make("merged");
  const works = spawnSync("mount", ["-t", "overlay", "overlay", "-o", options, merged]).status === 0;
  if (works) {
    spawnSync("umount", [merged]);
  }
  rmSync(folder, { recursive: true });
  return works;
}

/** A new cluster. A run that was ended leaves its deployments in the old one's state, and the next one would find them. */
function startCluster(): boolean {
  run(cluster, ["down"]);
  return run(cluster, ["up"]) === 0;
}

/**
 * Runs the files that failed again on a new cluster, where they are few: a whole run of half an hour is not thrown away for one accident,
 * and the accident is told.
 */
function testAgain(test: (suite: string, files: readonly string[]) => number, image: string | undefined): number {
  const lists = globSync("kubernetes-*.txt", { cwd: failures }).map((name) => join(failures, name));
  const text = lists.map((list) => readFileSync(list, "utf8")).join("");
  const again = findFailedFiles(text);
  if (again.length === 0 || again.length > MAX_FILES_AGAIN) {
    return 1;
  }
  console.log(`\n# kubernetes: what failed, again on a new cluster\n${again.join("\n")}`);
  if (!startCluster()) {
    return 1;
  }
  if (image !== undefined) {
    giveImage(image);
  }
  const status = test("kubernetes", again);
  if (status === 0) {
    for (const list of lists) {
      rmSync(list);
    }
    console.log(`\n# flaky: failed once, passed on a new cluster; a defect to mend\n${text}`);
  }
  return status;
}

/** Builds the image of the platform; its archive. */
function buildPlatform(): string {
  if (!canStart) {
    console.log("skipped: SWATH_IMAGE names no image, and nothing here can give one to the cluster");
    process.exit(0);
  }
  const archive = join(imageFolder, "image.tar");
  const options = ["--tag", TAG, "--archive", archive, "--compression", "fast"];
  if (run(process.execPath, [join(root, "tools/image/main.ts"), ...options]) !== 0) {
    throw new Error("the image could not be built");
  }
  return archive;
}

/** The image of the examples' tools, for the tour; without podman the tour is left out. */
function giveExamples(): void {
  if (spawnSync("podman", ["--version"]).status !== 0) {
    return;
  }
  const name = buildImage("podman", env);
  const archive = join(imageFolder, "examples.tar");
  if (
    run("podman", ["save", "--quiet", "--format", "docker-archive", "--output", archive, name]) !== 0 ||
    run(cluster, ["load", archive]) !== 0
  ) {
    throw new Error("the image of the examples could not be given to the cluster");
  }
  env["SWATH_TEST_EXAMPLES_IMAGE"] = name;
}

/** Imports the image into the cluster's nodes, with a second name, as a new version would have. */
function giveImage(archive: string): void {
  if (run(cluster, ["load", archive]) !== 0) {
    throw new Error("the image could not be given to the cluster");
  }
  env["SWATH_IMAGE"] = TAG;
  env["SWATH_NEXT_IMAGE"] = nameAgain(TAG, "swath:next");
}

/** Gives the cluster's image another name, as a new version would have; undefined where that cannot be done. */
function nameAgain(tag: string, name: string): string | undefined {
  const sockets = globSync(["containerd.sock", "node*/containerd.sock"], { cwd: dirname(env["KUBECONFIG"] ?? "") });
  const toReference = (text: string) => `docker.io/library/${text}`;
  const named = sockets.map((socket) =>
    run("ctr", [
      "-a",
      join(dirname(env["KUBECONFIG"] ?? ""), socket),
      "-n",
      "k8s.io",
      "images",
      "tag",
      "--force",
      toReference(tag),
      toReference(name),
    ]),
  );
  return named.length > 0 && named.every((status) => status === 0) ? name : undefined;
}

function skip(why: string): never {
  console.log(`skipped: there is no Kubernetes cluster to test on: ${why}.`);
  console.log("Set KUBECONFIG to a cluster for tests, and SWATH_IMAGE to an image that it has.");
  process.exit(0);
}

function isReachable(): boolean {
  return spawnSync("kubectl", ["get", "--raw", "/readyz", "--request-timeout=5s"], { env }).status === 0;
}

function run(command: string, args: readonly string[]): number {
  const { status, error } = spawnSync(command, args, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] });
  if (error !== undefined) {
    throw error;
  }
  return status ?? 1;
}
