// `npm run test:kubernetes [-- part of a file's name …]`: the platform on a real cluster.
//
// The cluster is that of KUBECONFIG; else one that ../shared/kubernetes/cluster starts, where that is there and this is root; it is
// taken away afterwards. Without any, it says why and ends well. SWATH_IMAGE names an image that the cluster has; else one is built and given to it.
// In CI (variable CI=true) what takes long and is covered in part elsewhere is left out; SWATH_TEST_WHOLE=true runs it there, too.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..");
/** Networks of a cluster that is started here. */
const SERVICES = "10.96.0.0/16";
const PODS = "10.244.0.0/16";
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
    // A run that was ended leaves its deployments in the cluster's state, and the next one would find them.
    run(cluster, ["down"]);
    console.log("starting a cluster; its programs are built first where this machine has none (8 minutes, once)");
    if (run(cluster, ["up"]) !== 0) {
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
try {
  if (env["SWATH_IMAGE"] === undefined) {
    env["SWATH_IMAGE"] = giveImage();
  }
  // Only a cluster that nobody else uses is broken on purpose.
  if (canStart && (started || env["CI"] === "true")) {
    env["SWATH_TEST_CLUSTER_START"] = `${cluster} up`;
  }
  const test = (suite: string, files: readonly string[]) =>
    run(process.execPath, [join(root, "tools/test.ts"), suite, ...files]);
  const whole = test("kubernetes", only);
  // What components do with a cluster by themselves: part of `npm test` too, which skips them where there is none.
  const parts =
    only.length > 0 ? 0 : test("integration", ["pod-executor", "jobs-as-pods", "namespaces", "kubernetes/template"]);
  process.exitCode = whole || parts;
} finally {
  for (const rule of kept) {
    run("iptables", ["-D", ...rule]);
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

/** Builds the image and imports it into the cluster's node. */
function giveImage(): string {
  if (!canStart) {
    console.log("skipped: SWATH_IMAGE names no image, and nothing here can give one to the cluster");
    process.exit(0);
  }
  const folder = mkdtempSync(join(tmpdir(), "swath-test-image-"));
  const archive = join(folder, "image.tar");
  const tag = "swath:test";
  try {
    const isBuilt =
      run(process.execPath, [join(root, "tools/image/main.ts"), "--tag", tag, "--archive", archive]) === 0;
    if (!isBuilt || run(cluster, ["load", archive]) !== 0) {
      throw new Error("the image could not be built and given to the cluster");
    }
    env["SWATH_NEXT_IMAGE"] = nameAgain(tag, "swath:next");
    return tag;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
