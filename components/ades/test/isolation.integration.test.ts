import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { findIsolation } from "@swath/isolation";
import { skipWithout } from "@swath/testing";

import { shellPackage } from "./packages.ts";
import { type TestAdes, startAdes } from "./start-ades.ts";

const SECRET = "a-secret-of-the-service-that-no-tool-may-see";

for (const sandbox of ["bubblewrap", "util-linux"] as const) {
  const report = findIsolation({ only: sandbox });
  // Many containers let no program be isolated.
  const skip = report.works ? false : `${report.reason}; ${report.command}`;
  /** What a hostile package finds when its tools run on the service's machine, without a container. */
  describe(`tools on this machine are isolated by ${sandbox}`, { skip }, () => attack(sandbox));
}

function attack(sandbox: string): void {
  let ades: TestAdes;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "swath-isolation-"));
    writeFileSync(join(folder, "secret"), SECRET);
    ades = await startAdes({
      env: {
        HOST_TOOLS: "isolated",
        SANDBOX: sandbox,
        S3_REGION: SECRET,
        TOOL_NETWORK: "alice",
        PLATFORM_DOMAIN: "swath.example",
        MAX_PROCESSES: "100",
        MAX_DISK_MIB: "40",
        MAX_OPEN_FILES: "64",
        MAX_TOOL_SECONDS: "8",
      },
      dataFolder: join(folder, "jobs"),
    });
    mkdirSync(join(folder, "jobs/jobs/another"), { recursive: true });
    writeFileSync(join(folder, "jobs/jobs/another/secret"), SECRET);
  });
  after(async () => {
    await ades.close();
    rmSync(folder, { recursive: true, force: true });
  });

  let packages = 0;
  /** Has a user's package run a shell command. */
  const execute = async (user: string, script: string, requirements?: string, headers: Record<string, string> = {}) => {
    const id = `hostile-${(packages += 1)}`;
    const deployed = await ades.send(`/${user}/ogc-api/processes`, {
      text: shellPackage(id, script, requirements),
      type: "application/cwl",
    });
    assert.equal(deployed.status, 201, JSON.stringify(deployed.body));
    return ades.send(`/${user}/ogc-api/processes/${id}/execution`, { json: { inputs: { name: "x" } }, headers });
  };
  /** What a shell command says. */
  const report = async (script: string, requirements?: string): Promise<string> => {
    const { status, body } = await execute("eve", script, requirements);
    assert.equal(status, 200, JSON.stringify(body));
    return String(body);
  };

  test("no other process is there, and no environment but its own", async () => {
    const said = await report(
      "cat /proc/[0-9]*/environ | tr '\\0' '\\n'; echo; ls -d /proc/[0-9]*; kill -9 -1; echo alive",
    );
    assert.doesNotMatch(said, new RegExp(SECRET));
    assert.doesNotMatch(said, /DATABASE_URL|S3_SECRET_KEY/);
    assert.ok((said.match(/^\/proc\/\d+$/gm) ?? []).length < 10, said);
    assert.equal((await ades.send("/eve/ogc-api/processes")).status, 200, "the service has survived");
  });

  test("files of the service, of other jobs and of the machine's users are not there", async () => {
    const said = await report(
      [
        `cat ${folder}/secret ${folder}/jobs/jobs/another/secret /etc/shadow /etc/ssh/* /root/.ssh/* /home/*/.ssh/*`,
        `ls ${folder} ${folder}/jobs/jobs /root /home /run /var/lib`,
        "ls -A /tmp; find / -xdev -name 'shadow*' -path '/etc/*'",
        "true",
      ].join("; "),
    );
    assert.doesNotMatch(said, new RegExp(SECRET));
    assert.doesNotMatch(said, /root:.*:\d+:/);
    // Of the folder of jobs, the way to its own and nothing else.
    assert.doesNotMatch(said, /another|secret|shadow/);
  });

  test("it can write its own directories and nothing else", async () => {
    const said = await report(
      [
        "try() { (echo x > $1/swath-was-here) 2>/dev/null && echo WROTE $1; }",
        "for place in /usr/bin /bin .. ../.. ../../.. ../../../in /proc/sys/kernel /sys; do try $place; done",
        "(echo x > here) && (echo x > $TMPDIR/here) && echo own",
        "panic=$(cat /proc/sys/kernel/panic); (echo $panic > /proc/sys/kernel/panic) 2>/dev/null && echo WROTE sysctl",
        "mount -t tmpfs none /mnt 2>/dev/null && echo MOUNTED; chroot / true 2>/dev/null && echo ROOT; id -u",
      ].join("; "),
    );
    assert.match(said, /^own$/m);
    assert.match(said, /^1000$/m);
    // A scratch file system in memory is no place of this machine; anything else would be.
    assert.doesNotMatch(said, /WROTE|MOUNTED|ROOT/);
  });

  const title =
    "no network unless it is asked for and the operator allows it; then the internet, never this machine or the platform";
  test(title, { skip: skipWithout("curl") }, async () => {
    const { port } = new URL(ades.url);
    const connects = (host: string) =>
      `bash -c 'exec 3<>/dev/tcp/${host}/${port} && echo CONNECTED || echo refused' 2>&1`;
    const asks = "{ NetworkAccess: { networkAccess: true } }";
    assert.doesNotMatch(await report(connects("127.0.0.1")), /CONNECTED/);
    // By the package alone it is not had.
    const refused = await execute("eve", connects("127.0.0.1"), asks);
    assert.equal(refused.status, 403);
    assert.match(refused.body.detail, /PROCESSING_TOOL_NETWORK.*eve\/hostile-/);
    const lan = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .find(({ internal, family }) => !internal && family === "IPv4")?.address;
    for (const host of ["127.0.0.1", "localhost", "0.0.0.0", "169.254.169.254", ...(lan === undefined ? [] : [lan])]) {
      const direct = await execute("alice", connects(host), asks);
      assert.equal(direct.status, 200, JSON.stringify(direct.body));
      assert.doesNotMatch(String(direct.body), /CONNECTED/, host);
      const response = await execute(
        "alice",
        `curl -sS -m 20 -w ' %{http_code}' http://${host}:${port}/healthz 2>&1; true`,
        asks,
      );
      assert.match(String(response.body), /403|50\d/, host);
      assert.doesNotMatch(String(response.body), /"ok"/, host);
      const tunnelled = await execute("alice", `curl -sS -m 20 -p http://${host}:${port}/healthz 2>&1; true`, asks);
      assert.doesNotMatch(String(tunnelled.body), /"ok"/, host);
    }
    const open = await execute("alice", `curl -sS http://ades-open.swath.example/ 2>&1`, asks);
    assert.match(String(open.body), /is a host of the platform; tools reach none of them/);
  });

  test("more processes, open files, disk or time than a tool may have end it, and the job says which", async () => {
    const failure = async (script: string, requirements = "{}") => {
      const { headers } = await execute("eve", script, requirements, { prefer: "respond-async" });
      const job = await ades.ended(headers.get("location") ?? "");
      assert.equal(job.status, "failed", script);
      return String(job.message);
    };
    assert.match(
      await failure("i=0; while [ $i -lt 400 ]; do sleep 30 & i=$((i+1)); done; wait"),
      /more than 100 processes|fork/,
    );
    assert.match(
      await failure("for i in 1 2 3 4 5 6; do head -c 10000000 /dev/zero > f$i; done; sleep 30"),
      /more than 40 MiB of disk/,
    );
    // Scratch files are on disk and counted there; memory for them is not to be had anywhere.
    assert.match(
      await failure("for i in 1 2 3 4 5 6; do head -c 10000000 /dev/zero > /tmp/f$i; done; sleep 30"),
      /more than 40 MiB of disk/,
    );
    // Its own maxima hold while it runs, and for one that has ended before anybody looked.
    assert.match(
      await failure("head -c 4000000 /dev/zero > large; sleep 30", "{ ResourceRequirement: { outdirMax: 2 } }"),
      /working directory held more than the 2 MiB that it asks for \(outdirMax/,
    );
    assert.match(
      await failure("head -c 4000000 /dev/zero > /tmp/large", "{ ResourceRequirement: { tmpdirMax: 2 } }"),
      /scratch directory held more than the 2 MiB that it asks for \(tmpdirMax/,
    );
    const memory = await report(
      "for place in /dev /run / /usr; do (head -c 1000 /dev/zero > $place/here) 2>/dev/null && echo WROTE $place; done; " +
        "head -c 100000000 /dev/zero > /dev/shm/large 2>/dev/null || echo shared memory is limited; ulimit -n",
    );
    assert.doesNotMatch(memory, /WROTE/);
    assert.match(memory, /shared memory is limited/);
    assert.match(memory, /^64$/m);
    assert.match(await failure("sleep 60"), /longer than its limit of 8 s/);
  });

  test("a program that is not there is named", async () => {
    const text = shellPackage("missing", "true").replace("baseCommand: [sh,", "baseCommand: [no-such-program,");
    await ades.send("/eve/ogc-api/processes", { text, type: "application/cwl" });
    const { headers } = await ades.send("/eve/ogc-api/processes/missing/execution", {
      json: { inputs: { name: "x" } },
      headers: { prefer: "respond-async" },
    });
    const job = await ades.ended(headers.get("location") ?? "");
    assert.equal(job.status, "failed");
    assert.match(job.message, /"no-such-program" was not found on this machine/);
  });

  test("variables of a tool mean nothing to the programs that make its sandbox", async () => {
    const said = await report(
      "echo has $LD_DEBUG $BASH_ENV",
      `{ EnvVarRequirement: { envDef: { LD_DEBUG: statistics, LD_DEBUG_OUTPUT: ${folder}/escaped, BASH_ENV: ${folder}/secret } } }`,
    );
    assert.match(said, /has statistics .*secret/);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith("escaped")),
      [],
    );
  });
}

test("a machine that cannot isolate tools says so when a package is deployed, and refuses to execute it", async () => {
  const programs = mkdtempSync(join(tmpdir(), "swath-programs-"));
  for (const [env, detail] of [
    [{ HOST_TOOLS: "refused", CONTAINER_ENGINE: "none" }, /names no container, .*HOST_TOOLS=refused/],
    // A machine where it does not work: this name leads nowhere.
    [
      { HOST_TOOLS: "auto", SANDBOX: "bubblewrap", BUBBLEWRAP: join(programs, "bwrap") },
      /names no container, .*bubblewrap: it is not installed.*the operator can mend it: \S+/,
    ],
  ] as const) {
    const ades = await startAdes({ env });
    try {
      const deployed = await ades.send("/eve/ogc-api/processes", {
        text: shellPackage("bare", "true"),
        type: "application/cwl",
      });
      assert.equal(deployed.status, 201);
      assert.match(deployed.body.warnings.join(" "), detail);
      assert.equal((await ades.send("/eve/ogc-api/processes/bare")).body.warnings, undefined, "it may be mended later");
      const { status, body } = await ades.send("/eve/ogc-api/processes/bare/execution", {
        json: { inputs: { name: "x" } },
        headers: { prefer: "respond-async" },
      });
      assert.equal(status, 400);
      assert.match(body.detail, detail);
    } finally {
      await ades.close();
    }
  }
  rmSync(programs, { recursive: true });
});
