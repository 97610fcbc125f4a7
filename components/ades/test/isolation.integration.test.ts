import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { shellPackage } from "./packages.ts";
import { type TestAdes, startAdes } from "./start-ades.ts";

const SECRET = "a-secret-of-the-service-that-no-tool-may-see";
const skip = whyNoIsolation() ?? false;

/** Whether this machine lets programs be isolated: many containers do not. */
function whyNoIsolation(): string | undefined {
  const { error, status, stderr } = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "--", "true"]);
  return error !== undefined
    ? "needs bubblewrap (Debian package bubblewrap)"
    : status === 0
      ? undefined
      : `bubblewrap cannot be used here: ${stderr.toString().trim()}`;
}

/** What a hostile package finds when its tools run on the service's machine, without a container. */
describe("tools on this machine are isolated", { skip }, () => {
  let ades: TestAdes;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "swath-isolation-"));
    writeFileSync(join(folder, "secret"), SECRET);
    ades = await startAdes({ env: { HOST_TOOLS: "isolated", S3_REGION: SECRET }, dataFolder: join(folder, "jobs") });
    mkdirSync(join(folder, "jobs/jobs/another"), { recursive: true });
    writeFileSync(join(folder, "jobs/jobs/another/secret"), SECRET);
  });
  after(async () => {
    await ades.close();
    rmSync(folder, { recursive: true, force: true });
  });

  let packages = 0;
  /** What a shell command says that a user's package runs. */
  const say = async (script: string, requirements?: string): Promise<string> => {
    const id = `hostile-${(packages += 1)}`;
    const deployed = await ades.ask("/eve/ogc-api/processes", {
      text: shellPackage(id, script, requirements),
      type: "application/cwl",
    });
    assert.equal(deployed.status, 201, JSON.stringify(deployed.body));
    const { status, body } = await ades.ask(`/eve/ogc-api/processes/${id}/execution`, {
      json: { inputs: { name: "x" } },
    });
    assert.equal(status, 200, JSON.stringify(body));
    return String(body);
  };

  test("no other process is there, and no environment but its own", async () => {
    const said = await say(
      "cat /proc/[0-9]*/environ | tr '\\0' '\\n'; echo; ls -d /proc/[0-9]*; kill -9 -1; echo alive",
    );
    assert.doesNotMatch(said, new RegExp(SECRET));
    assert.doesNotMatch(said, /DATABASE_URL|S3_SECRET_KEY/);
    assert.ok((said.match(/^\/proc\/\d+$/gm) ?? []).length < 10, said);
    assert.equal((await ades.ask("/eve/ogc-api/processes")).status, 200, "the service has survived");
  });

  test("files of the service, of other jobs and of the machine's users are not there", async () => {
    const said = await say(
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
    const said = await say(
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

  test("no network unless it is asked for", async () => {
    const port = new URL(ades.url).port;
    const script = `exec 3<>/dev/tcp/127.0.0.1/${port} && echo CONNECTED || echo refused`;
    const bash = `bash -c '${script}' 2>&1`;
    assert.match(await say(bash), /refused|unreachable/i);
    assert.doesNotMatch(await say(bash), /CONNECTED/);
    assert.match(await say(bash, "{ NetworkAccess: { networkAccess: true } }"), /CONNECTED/);
  });

  test("a program that is not there is named", async () => {
    const text = shellPackage("missing", "true").replace("baseCommand: [sh,", "baseCommand: [no-such-program,");
    await ades.ask("/eve/ogc-api/processes", { text, type: "application/cwl" });
    const { headers } = await ades.ask("/eve/ogc-api/processes/missing/execution", {
      json: { inputs: { name: "x" } },
      headers: { prefer: "respond-async" },
    });
    const job = await ades.ended(headers.get("location") ?? "");
    assert.equal(job.status, "failed");
    assert.match(job.message, /"no-such-program" was not found on this machine/);
  });
});

test("an operator can refuse tools without a container", async () => {
  const ades = await startAdes({ env: { HOST_TOOLS: "refused", CONTAINER_ENGINE: "none" } });
  try {
    await ades.ask("/eve/ogc-api/processes", { text: shellPackage("bare", "true"), type: "application/cwl" });
    const { headers } = await ades.ask("/eve/ogc-api/processes/bare/execution", {
      json: { inputs: { name: "x" } },
      headers: { prefer: "respond-async" },
    });
    const job = await ades.ended(headers.get("location") ?? "");
    assert.equal(job.status, "failed");
    assert.match(job.message, /names no container/);
  } finally {
    await ades.close();
  }
});
