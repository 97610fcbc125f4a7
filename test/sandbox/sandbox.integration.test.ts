import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";

import { type Isolation, type Sandbox, findIsolation } from "@swath/isolation";

import { describeSandbox } from "../../components/ades/execution/isolation.ts";
import { seenPath, toolPath } from "../../components/ades/execution/tool-path.ts";
import { describeServer } from "../../components/application-hub/spawners/server-sandbox.ts";
import type { Launch } from "../../components/application-hub/spawners/spawner.ts";
import { ATTACKS, type Surroundings } from "./attacks.ts";

const SECRET = "a-secret-of-the-host";
const DESCRIPTOR = 123;
let folder: string;
let surroundings: Surroundings;
const servers: Server[] = [];

before(async () => {
  // With a space, below the temporary files of the host, by a link: everything that a path can be.
  const real = mkdtempSync(join(realpathSync(tmpdir()), "swath sandbox-"));
  folder = `${real}-link`;
  symlinkSync(real, folder);
  mkdirSync(join(real, "another"));
  for (const each of ["secret", "another/secret"]) {
    writeFileSync(join(real, each), SECRET);
  }
  const listen = (where: string | number) =>
    new Promise<Server>((resolve) => {
      const server = createServer((socket) => socket.end("BROKEN"));
      servers.push(server);
      server.listen(where as number, () => resolve(server));
    });
  await listen(join(real, "control.sock"));
  const { port } = (await listen(0)).address() as { port: number };
  surroundings = {
    folder: real.replaceAll(" ", "\\ "),
    secret: SECRET,
    port,
    descriptor: DESCRIPTOR,
    process: process.pid,
  };
});
after(() => {
  servers.forEach((server) => server.close());
  rmSync(realpathSync(folder), { recursive: true });
  rmSync(folder);
});

/** The sandboxes of the platform, as its services describe them. */
const SANDBOXES: Readonly<Record<string, () => Sandbox>> = {
  "the tools of a job": () => {
    const job = join(folder, "job");
    const [outdir, tmpdirOfTool] = [join(job, "out"), join(job, "tmp")];
    [outdir, tmpdirOfTool, join(job, "watch")].forEach((each) => mkdirSync(each, { recursive: true }));
    writeFileSync(join(outdir, ".bashrc"), "echo bashrc was read");
    return describeSandbox(
      { outdir: { host: outdir, seen: outdir }, tmpdir: { host: tmpdirOfTool, seen: tmpdirOfTool } },
      {
        path: toolPath({ TOOL_PATH: undefined }),
        folder: job,
        limits: { processes: 100, openFiles: 64, fileBytes: 2 ** 26 },
        way: undefined,
        pidFile: join(job, "watch/tool"),
      },
    );
  },
  "a server of the hub": () => {
    const [home, own, shared] = ["home", "server", "shared"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    [home, own, join(shared, "hub"), join(shared, "platform")].forEach((each) => mkdirSync(each, { recursive: true }));
    writeFileSync(join(home, ".bashrc"), "echo bashrc was read");
    const launch = { user: "eve", size: { cores: 1, memoryBytes: 2 ** 26 }, profile: {}, env: {} } as unknown as Launch;
    const sandbox = describeServer({ launch, home, folder: own, shared, hasStorage: false, authorities: undefined });
    return { ...sandbox, limits: { ...sandbox.limits, openFiles: 64 } };
  },
};

for (const kind of ["bubblewrap", "util-linux"] as const) {
  const report = findIsolation({ only: kind });
  // Many containers let no program be isolated.
  const skip = report.works ? false : `${report.reason}; ${report.command}`;
  for (const [name, describeIt] of Object.entries(SANDBOXES)) {
    describe(`${name}, isolated by ${kind}`, { skip }, () => {
      const run = (command: readonly string[], environment = {}) =>
        runIn((report as { isolation: Isolation }).isolation, describeIt(), command, environment);
      for (const attack of ATTACKS) {
        test(attack.title, () => {
          const said = run(["/bin/bash", "--norc", "-c", attack.script(surroundings)], { GIVEN: "yes" });
          assert.match(said, attack.holds);
          if (attack.breaks !== undefined) {
            assert.doesNotMatch(said, attack.breaks);
          }
        });
      }

      test(
        "finds the tools of the example packages",
        { skip: !name.includes("tools") && "servers have them not" },
        () => {
          const said = run(["swath-examples", "none"], { PATH: seenPath(toolPath({ TOOL_PATH: undefined })) });
          assert.match(said, /unknown tool "none"; tools: ndvi/);
        },
      );

      test("a program that is killed ends with its signal's status, and nothing is written in its name", () => {
        assert.equal(run(["/bin/sh", "-c", "echo last >&2; kill -9 $$"]), "last\n");
        assert.match(run(["/no/such/program"]), /No such file/);
      });

      test("its variables mean nothing outside", () => {
        run(["/bin/true"], { LD_DEBUG: "statistics", LD_DEBUG_OUTPUT: join(folder, "escaped"), BASH_ENV: "/no/such" });
        assert.deepEqual(
          readdirSync(folder).filter((each) => each.startsWith("escaped")),
          [],
        );
      });

      test("passes its input, output, status and arguments on as they are", async () => {
        const { command, environment } = (report as { isolation: Isolation }).isolation.wrap(describeIt(), {
          command: ["/bin/sh", "-c", 'cat; printf "%s|" "$@"; exit 7', "sh", "a b", "$(id)", "'", ""],
          environment: { PATH: "/usr/bin:/bin" },
        });
        const [program = "", ...args] = command;
        const child = spawn(program, args, { env: environment, stdio: ["pipe", "pipe", "inherit"] });
        const status = new Promise((resolve) => child.once("exit", resolve));
        child.stdin.end("in ");
        assert.equal(await text(child.stdout), "in a b|$(id)|'||");
        assert.equal(await status, 7);
      });

      test("what it may write is no place that a service looks for its own files in", () => {
        const sandbox = describeIt();
        const writable = sandbox.view.flatMap((view) => (view.kind === "writable" ? [view.source] : []));
        const own = [sandbox.file, `${sandbox.file}.mounts`, ...["server", "shared"].map((each) => join(folder, each))];
        assert.notEqual(writable.length, 0);
        for (const source of writable) {
          for (const path of own.map((each) => join(realpathSync(folder), each.slice(folder.length)))) {
            const [one, other] = [`${realpathSync(source)}/`, `${path}/`];
            assert.ok(!one.startsWith(other) && !other.startsWith(one), `${source} overlaps with ${path}`);
          }
        }
      });

      test(
        "holds its temporary files to their limit",
        { skip: name.includes("tools") && "the service measures them" },
        () => {
          assert.match(run(["/bin/sh", "-c", "head -c 50000000 /dev/zero >/tmp/large || echo limited"]), /limited/);
        },
      );
    });
  }
}

/** Runs a command as a service does that has inherited a descriptor and has variables of its own. */
function runIn(isolation: Isolation, sandbox: Sandbox, inner: readonly string[], variables: object): string {
  const { command, environment } = isolation.wrap(sandbox, {
    command: inner,
    environment: { PATH: "/usr/local/bin:/usr/bin:/bin", ...variables },
  });
  const leak = ["/bin/bash", "--norc", "-c", `exec ${DESCRIPTOR}>/dev/null; exec "$@"`, "bash"];
  const { stdout, stderr, error } = spawnSync("/usr/bin/env", [...leak, ...command], {
    env: { ...environment, HOME: sandbox.workdir },
    timeout: 60_000,
  });
  assert.equal(error, undefined);
  return `${stdout.toString()}${stderr.toString()}`;
}
