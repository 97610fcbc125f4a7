// Every folder that a stranger's program may write, against every path that services open on their own account.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type { Sandbox } from "@swath/isolation";

import { describeSandbox } from "../../components/ades/execution/isolation.ts";
import { toolPath } from "../../components/ades/execution/tool-path.ts";
import { createContainerSpawner } from "../../components/application-hub/spawners/containers/container-spawner.ts";
import { type HubFolders, openFolders } from "../../components/application-hub/spawners/folders.ts";
import { describeServer } from "../../components/application-hub/spawners/server-sandbox.ts";
import type { Launch } from "../../components/application-hub/spawners/spawner.ts";

/** Services open these although a stranger may write there, and what keeps that safe. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  // The program beside a container, which is the hub's own, runs in the stranger's image.
  "io/app": "no link is followed, and what is connected to is what was looked at (libs/relay/src/find-socket.test.ts)",
};

let folder: string;
let folders: HubFolders;
before(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "swath-mounts-")));
  folders = openFolders(join(folder, "hub"));
});
after(() => {
  rmSync(join(folders.shared, ".."), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

const launch = {
  id: "one-two-three",
  user: "eve",
  name: "",
  options: {},
  base: "/",
  origin: "http://eve.hub",
  env: {},
  size: { cores: 1, memoryBytes: 2 ** 26 },
  profile: {
    definition: { display_name: "X", slug: "x", kubespawner_override: { image: "localhost/x:1" } },
    embedded: { kind: "container", port: 8080 },
  },
} as unknown as Launch;

/** What the hub and its proxy open of a server. */
const hubPaths = () => {
  const own = folders.serverOf(launch.id);
  return [
    ...["io/app", "log", "exit", "env", "sandbox", "sandbox.mounts"].map((name) => join(own, name)),
    ...["hub/sock", "hub/storage", "platform/sock", "internet/sock"].map((name) => join(folders.shared, name)),
    folders.lease,
  ];
};

const writableOf = ({ view, scratch }: Sandbox): readonly string[] => [
  ...view.flatMap((each) => (each.kind === "writable" ? [each.source] : [])),
  ...("folder" in scratch ? [scratch.folder] : []),
];

/** @returns paths that a program could put a link in the place of, by where they end */
function findOverlaps(writable: readonly string[], opened: readonly string[]): readonly string[] {
  assert.notEqual(writable.length, 0);
  return opened.filter((path) => writable.some((source) => path === source || path.startsWith(`${source}/`)));
}

test("a tool of a job writes nothing that the processing service opens while it runs", () => {
  const job = join(folder, "jobs/one");
  const [outdir, scratch] = ["out", "tmp"].map((name) => join(job, name)) as [string, string];
  [outdir, scratch, join(job, "watch")].forEach((each) => mkdirSync(each, { recursive: true }));
  const sandbox = describeSandbox(
    { outdir: { host: outdir, seen: outdir }, tmpdir: { host: scratch, seen: scratch } },
    {
      path: toolPath({ TOOL_PATH: undefined }),
      folder: job,
      limits: { processes: 100, openFiles: 64, fileBytes: 2 ** 26 },
      way: undefined,
      pidFile: join(job, "watch/tool"),
    },
  );
  const opened = [join(job, "watch/tool"), sandbox.file, `${sandbox.file}.mounts`, join(folder, "jobs")];
  assert.deepEqual(findOverlaps(writableOf(sandbox), opened), []);
});

test("a server that is a program writes nothing that the hub opens", () => {
  const sandbox = describeServer({
    launch,
    home: folders.homeOf(launch.user),
    folder: folders.serverOf(launch.id),
    shared: folders.shared,
    hasStorage: true,
    authorities: undefined,
  });
  assert.deepEqual(findOverlaps(writableOf(sandbox), hubPaths()), []);
  // Another user's home, and the folder of all of them.
  assert.deepEqual(findOverlaps(writableOf(sandbox), [folders.homeOf("bob"), join(folder, "hub/homes")]), []);
});

test("a server in a container writes nothing that the hub opens, but what is opened with care", async () => {
  const calls = join(folder, "calls");
  const engine = join(folder, "podman");
  // Says that everything is there, and makes the socket that the hub waits for.
  const script = [
    `#!/bin/sh`,
    `printf '%s\\n' "$@" "-" >>${calls}`,
    `for each; do case $each in *:/run/swath/io) touch "\${each%%:*}/app";; esac; done`,
    `case "$1 $2" in "container inspect") exit 1;; "inspect --format") echo 1;; *) echo there;; esac`,
  ].join("\n");
  writeFileSync(engine, `${script}\n`, { mode: 0o755 });
  mkdirSync(folders.serverOf(launch.id), { recursive: true });
  const spawner = createContainerSpawner({ folders, engine, hasStorage: true, authorityFile: undefined });
  await spawner.start(launch, spawner.plan(launch), () => {});
  const args = readFileSync(calls, "utf8").split("\n");
  const writable = args.flatMap((each, at) => {
    const [source = "", , mode = ""] = args[at - 1] === "--volume" ? each.split(":") : [];
    return source === "" || mode.includes("ro") ? [] : [source];
  });
  assert.ok(args.filter((each) => each === "--volume").length > 8, args.join(" "));
  assert.ok(args.some((each) => each.startsWith("--security-opt=seccomp=")));
  const overlaps = findOverlaps([...new Set(writable)], hubPaths());
  const named = overlaps.map((path) => path.slice(folders.serverOf(launch.id).length + 1));
  assert.deepEqual(named, Object.keys(EXCEPTIONS));
  assert.deepEqual(findOverlaps(writable, [folders.homeOf("bob"), join(folder, "hub/homes")]), []);
});
