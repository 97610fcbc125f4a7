// Needs: setpriv
// Deployed by root, each component runs as an account of its own: whoever takes one over reads nothing of another, and reaches what
// the plan says that it calls.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";

import { type TestCluster, createTestCluster, skipWithout, waitUntil } from "@swath/testing";

/** Whether an account without rights can make sandboxes here. */
const nested = ["unshare", "--user", "--map-root-user", "--mount", "--net", "--pid", "--fork", "true"];
const makesSandboxes =
  spawnSync("setpriv", ["--reuid=61184", "--regid=61184", "--clear-groups", "--no-new-privs", ...nested]).status === 0;
/** Why a workload runs as root all the same; without an engine for containers none does where user name spaces are allowed. */
const EXCEPTIONS: Readonly<Record<string, string>> = makesSandboxes
  ? {}
  : {
      ades: "makes sandboxes of tools",
      "application-hub": "makes sandboxes of servers",
      "application-hub-proxy": "shares the folder of the application hub",
    };
const isRoot = process.getuid?.() === 0;

type ListedPod = Awaited<ReturnType<TestCluster["pods"]>>[number];

let cluster: TestCluster;
let pods: readonly ListedPod[] = [];

describe(
  "services that root deploys",
  { skip: isRoot ? skipWithout("setpriv") : "only root starts services as other accounts" },
  () => {
    before(async () => {
      cluster = await createTestCluster({
        USE_TLS: "false",
        OPEN_INGRESS: "true",
        CONTAINER_ENGINE: "none",
      });
      const { status, stdout, stderr } = await cluster.apply();
      assert.equal(status, 0, stdout + stderr);
      pods = (await cluster.pods()).filter(({ pid }) => pid !== undefined);
      assert.ok(pods.length > 15, `${pods.length} pods`);
    });
    after(() => cluster.close());

    test("none runs as root but those that are named with the reason, and none has a right of root's", () => {
      const components = new Map<number, string>();
      for (const pod of pods) {
        const { uid, capabilities, noNewPrivileges } = readStatus(pod);
        if (pod.workload in EXCEPTIONS) {
          continue;
        }
        assert.notEqual(uid, 0, pod.workload);
        // The ingress may listen on ports below 1024.
        assert.equal(capabilities, pod.workload === "ingress" ? 1n << 10n : 0n, pod.workload);
        if (pod.workload !== "postgres") {
          assert.equal(noNewPrivileges, 1, pod.workload);
          assert.ok(uid >= 61_184 && uid <= 65_519, `${pod.workload} runs as ${uid}`);
          const component = componentOf(pod);
          assert.equal(components.get(uid) ?? component, component, "two components have one account");
          components.set(uid, component);
        }
      }
      assert.ok(components.size >= 10, [...components.values()].join());
      const left = Object.keys(EXCEPTIONS).filter(
        (name) => !pods.some((pod) => pod.workload === name && readStatus(pod).uid === 0),
      );
      assert.deepEqual(left, [], "exceptions that are none");
    });

    test("an account reads no file and no environment of another component, nor of the cluster's state", async () => {
      // What is no secret: compiled code, and certificates of authorities.
      const readable = ["compiled", "authorities"].map((name) => join(cluster.directory, name));
      const state = listFiles(cluster.directory).filter((file) => !readable.some((folder) => file.startsWith(folder)));
      const ingressFolder = join(cluster.directory, "ingress");
      assert.ok(state.some((file) => file.endsWith("/secrets.json")));
      assert.ok(state.some((file) => file.includes("/volumes/rm/objstore/")));
      for (const pod of confinedPods()) {
        const { uid } = readStatus(pod);
        const own = pod.workload === "ingress" ? ingressFolder : undefined;
        const foreign = state.filter(
          (file) =>
            statSync(file, { throwIfNoEntry: false })?.uid !== uid && !(own !== undefined && file.startsWith(own)),
        );
        const environments = pods
          .filter((other) => readStatus(other).uid !== uid)
          .flatMap(({ pid }) => [`/proc/${pid}/environ`, `/proc/${pid}/mem`]);
        // The first shows that an open file would be seen.
        const opened = await intrude(pod, { files: ["/etc/passwd", ...foreign, ...environments], sockets: [] });
        assert.deepEqual(opened, ["/etc/passwd"], pod.workload);
      }
    });

    test("an account opens the sockets that its settings name, and its own", async () => {
      const run = realpathSync(join(cluster.directory, "run"));
      const sockets = [
        join(run, "control.sock"),
        join(run, "status.sock"),
        ...readdirSync(join(run, "svc")).flatMap((workload) =>
          readdirSync(join(run, "svc", workload))
            .filter((name) => /\.sock$|^\.s\.PGSQL\.\d+$/.test(name))
            .map((name) => join(run, "svc", workload, name)),
        ),
      ];
      assert.ok(sockets.length > 30, `${sockets.length} sockets`);
      for (const pod of confinedPods()) {
        const settings = decodeURIComponent(readFileSync(`/proc/${pod.pid}/environ`, "utf8"));
        // The ingress has its addresses in a file, by the folders of pods.
        const environment = pod.workload === "ingress" ? listUpstreams() : settings;
        const { uid } = readStatus(pod);
        const expected = sockets.filter(
          (path) =>
            environment.includes(path) ||
            // The folder of the database stands in an address of its own kind.
            (path.includes("/.s.PGSQL.") && environment.includes(join(run, "svc/postgres"))) ||
            statSync(path).uid === uid,
        );
        const opened = await intrude(pod, { files: [], sockets });
        assert.deepEqual(opened.toSorted(), expected.toSorted(), pod.workload);
      }
    });

    test("an account cannot put a link in the place of a socket that another service connects to", async () => {
      const folders = join(realpathSync(join(cluster.directory, "run")), "pods");
      let count = 0;
      for (const pod of confinedPods().filter(({ ready }) => ready)) {
        const folder = join(folders, pod.name);
        const sockets = readdirSync(folder).map((name) => join(folder, name));
        assert.equal(statSync(folder).uid, 0, pod.workload);
        assert.deepEqual(await intrude(pod, { files: [], sockets: [], replaced: sockets }), [], pod.workload);
        count += sockets.length;
      }
      assert.ok(count > 20, `${count} sockets`);
    });

    test("a service that is restarted makes its sockets again", async () => {
      const { status, stdout, stderr } = await cluster.swath("restart", "resource-catalogue", cluster.name);
      assert.equal(status, 0, stdout + stderr);
      await waitUntil("the restarted pod is ready", async () => {
        const after = (await cluster.pods()).find(({ workload }) => workload === "resource-catalogue");
        return after?.ready === true && after.pid !== pods.find(({ name }) => name === after.name)?.pid;
      });
    });
  },
);

const confinedPods = () => pods.filter(({ workload }) => workload !== "postgres" && !(workload in EXCEPTIONS));

function componentOf({ workload }: ListedPod): string {
  const { plan } = JSON.parse(readFileSync(join(cluster.directory, "plan.json"), "utf8")) as {
    plan: { workloads: readonly { name: string; component: string }[] };
  };
  return plan.workloads.find(({ name }) => name === workload)?.component ?? workload;
}

function readStatus({ pid }: ListedPod) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1]?.trim() ?? "";
  return {
    uid: Number(field("Uid").split(/\s/)[0]),
    gid: Number(field("Gid").split(/\s/)[0]),
    groups: field("Groups").split(" ").filter(Boolean),
    capabilities:
      BigInt(`0x${field("CapEff")}`) |
      BigInt(`0x${field("CapPrm")}`) |
      (BigInt(`0x${field("CapBnd")}`) * BigInt(field("NoNewPrivs"))),
    noNewPrivileges: Number(field("NoNewPrivs")),
  };
}

/** Where the hosts of the ingress lead to, by the stable addresses of workloads. */
function listUpstreams(): string {
  const { routes } = JSON.parse(readFileSync(join(cluster.directory, "ingress/ingress.json"), "utf8")) as {
    routes: readonly { upstream: { socketPath: string } | null }[];
  };
  return routes
    .map(({ upstream }) => (upstream?.socketPath ?? "").replace(/\/pods\/(.+)-[a-z0-9]{5}\//, "/svc/$1/"))
    .join(" ");
}

/** Everything below a folder, links not followed. */
function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => existsSync(file));
}

/** What somebody who has taken over a pod can open of these, with its user and its groups. */
async function intrude(
  pod: ListedPod,
  tried: {
    readonly files: readonly string[];
    readonly sockets: readonly string[];
    readonly replaced?: readonly string[];
  },
): Promise<readonly string[]> {
  const { uid, gid, groups } = readStatus(pod);
  const child = spawn(
    "setpriv",
    [
      `--reuid=${uid}`,
      `--regid=${gid}`,
      groups.length === 0 ? "--clear-groups" : `--groups=${groups.join(",")}`,
      "--bounding-set=-all",
      "--no-new-privs",
      process.execPath,
      join(import.meta.dirname, "support/intrude.ts"),
    ],
    { stdio: ["pipe", "pipe", "inherit"], env: { PATH: "/usr/bin:/bin" } },
  );
  child.stdin.end(JSON.stringify(tried));
  return JSON.parse(await text(child.stdout)) as readonly string[];
}
