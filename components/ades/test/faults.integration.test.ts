import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { type RequestListener, type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { CreateBucketCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { waitUntil } from "@swath/testing";

import { filePackage, shellPackage } from "./packages.ts";
import { ROOT, type TestAdes, isRunner, startAdes } from "./start-ades.ts";

const run = promisify(execFile);
const LARGE = Buffer.alloc(24 * 2 ** 20, "0123456789abcdef-");
let ades: TestAdes;
let s3: S3Client;

before(async () => {
  ades = await startAdes({
    env: { ALLOW_PRIVATE: "127.0.0.1/32", CONTAINER_ENGINE: "none", MAX_RAM_MIB: "512", LOG_LEVEL: "fatal" },
  });
  s3 = new S3Client({ endpoint: ades.objstoreUrl, region: "us-east-1", forcePathStyle: true, credentials: ROOT });
  await s3.send(new CreateBucketCommand({ Bucket: "results" }));
});
after(async () => {
  s3.destroy();
  await ades.close();
});

async function deploy(text: string): Promise<void> {
  const { status, body } = await ades.send("/eric/ogc-api/processes", { text, type: "application/cwl" });
  assert.equal(status, 201, JSON.stringify(body));
}

async function execute(id: string, inputs: object): Promise<string> {
  const response = await ades.send(`/eric/ogc-api/processes/${id}/execution`, {
    json: { inputs },
    headers: { prefer: "respond-async" },
  });
  assert.equal(response.status, 201, JSON.stringify(response.body));
  return response.headers.get("location") ?? "";
}

/** A source of the test's own. */
async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Processes of runners that have a job: those that hold an open journal. */
function runnersAtWork(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
        return Number(parent) === ades.pid() && isRunner(readFileSync(`/proc/${pid}/cmdline`, "utf8"));
      } catch {
        return false;
      }
    });
}

const statusOf = async (location: string) => (await ades.send(location)).body.status as string;
const isOn = (location: string, message: RegExp) => async () =>
  message.test((await ades.send(location)).body.message as string);

test("while inputs come in: the service and its runner are killed, the file is whole in the end", async (t) => {
  let requests = 0;
  const url = await serve(t, ({ headers }, response) => {
    requests += 1;
    const start = Number(/\d+/.exec(headers.range ?? "0")?.[0]);
    response.writeHead(start > 0 ? 206 : 200, {
      etag: '"one"',
      "content-length": LARGE.length - start,
      ...(start > 0 && { "content-range": `bytes ${start}-${LARGE.length - 1}/${LARGE.length}` }),
    });
    // The first two attempts never get the end.
    response.write(
      LARGE.subarray(start, requests <= 2 ? 16 * 2 ** 20 : undefined),
      () => requests > 2 && response.end(),
    );
  });
  await deploy(filePackage("count", 'wc -c < "$1" > size.txt'));
  const location = await execute("count", { file: { href: `${url}/large.bin` } });
  await waitUntil("the source is asked", () => requests === 1);
  await ades.kill();
  await ades.start();
  await waitUntil("it is asked again", () => requests === 2);
  for (const pid of runnersAtWork()) {
    process.kill(pid, "SIGKILL");
  }
  const job = await ades.ended(location);
  assert.equal(job.status, "successful", job.message);
  const { Contents = [] } = await s3.send(
    new ListObjectsV2Command({ Bucket: "results", Prefix: `processing-results/${job.jobID}/` }),
  );
  assert.ok(Contents.some(({ Key }) => Key?.endsWith("size.txt")));
});

test("a runner that is killed again and again is given up with a reason", async () => {
  await deploy(shellPackage("endless", "sleep 3600"));
  const location = await execute("endless", { name: "x" });
  let crashes = 0;
  // A spare runner dies as well; where the job had just been given to it, that is one death more.
  for (; (await statusOf(location)) !== "failed"; crashes += 1) {
    assert.ok(crashes < 3, "it is given up after three deaths");
    await waitUntil("it runs, or is given up", isOn(location, /Running|crashed repeatedly/));
    await sleep(300);
    for (const pid of runnersAtWork()) {
      process.kill(pid, "SIGKILL");
    }
    await waitUntil("that is noticed", async () => !(await isOn(location, /Running/)()));
  }
  assert.ok(crashes > 1, "one death is no reason to give up");
  const job = await ades.ended(location);
  assert.equal(job.status, "failed");
  assert.match(job.message, /crashed repeatedly \(SIGKILL\)/);
});

test("PostgreSQL is killed while a job is at work and is away at its end: nothing is lost, nothing is wrong", async () => {
  await deploy(shellPackage("slow", 'sleep 2; printf "done %s" "$1"'));
  const location = await execute("slow", { name: "anyway" });
  await waitUntil("it runs", isOn(location, /Running/));
  await ades.postgres.kill();
  await sleep(4000);
  await ades.postgres.start();
  const job = await waitUntil(
    "the job has ended",
    async () => {
      const { body } = await ades.send(location).catch(() => ({ body: {} as Record<string, string> }));
      return ["successful", "failed"].includes(body["status"] ?? "") ? body : undefined;
    },
    90,
  );
  assert.equal(job["status"], "successful", job["message"]);
  assert.deepEqual((await ades.send(`${location}/results`)).body, "done anyway");
});

test("the object storage is away when results are stored: they are stored when it is back", async () => {
  await deploy(filePackage("write", "sleep 5; echo result > result.txt"));
  const location = await execute("write", { file: { href: "data:text/plain,x" } });
  await waitUntil("it runs", isOn(location, /Running/));
  await ades.objstore.kill();
  await waitUntil("it waits for the storage", isOn(location, /object storage does not answer/));
  await ades.objstore.start();
  const job = await ades.ended(location);
  assert.equal(job.status, "successful", job.message);
  const { Contents = [] } = await s3.send(
    new ListObjectsV2Command({ Bucket: "results", Prefix: `processing-results/${job.jobID}/` }),
  );
  assert.equal(Contents.filter(({ Key }) => Key?.endsWith("result.txt")).length, 1);
});

test("the service is killed while a package is fetched: nothing half is deployed", async (t) => {
  let asked = false;
  const url = await serve(t, (_, response) => {
    asked = true;
    response.write("cwlVersion: v1.2\n");
  });
  const deploying = ades
    .send("/eric/ogc-api/processes", { json: { executionUnit: { href: `${url}/half.cwl`, type: "application/cwl" } } })
    .catch(() => undefined);
  await waitUntil("the package is asked for", () => asked);
  await ades.kill();
  await deploying;
  await ades.start();
  assert.equal((await ades.send("/eric/ogc-api/processes/half")).status, 404);
  assert.deepEqual(readdirSync(join(ades.dataFolder, "packages")), [], "nothing of it is left on the disk");
});

const needsPython = existsSync("/usr/bin/python3") ? {} : { skip: "needs Debian's package python3" };

test("a tool that takes more memory than it may is ended, and that is said", needsPython, async () => {
  const grow = "import time\nx = []\nwhile True:\n  x.append(bytearray(16 << 20))\n  time.sleep(0.01)";
  const requirements = "{ ResourceRequirement: { ramMin: 64, ramMax: 128 } }";
  await deploy(shellPackage("greedy", `/usr/bin/python3 -c '${grow}'`, requirements));
  const job = await ades.ended(await execute("greedy", { name: "x" }));
  assert.equal(job.status, "failed");
  assert.match(job.message, /used more than its 128 MiB of memory and was stopped/);
  await deploy(shellPackage("silent-about-it", `/usr/bin/python3 -c '${grow}' & wait`));
  assert.match(
    (await ades.ended(await execute("silent-about-it", { name: "x" }))).message,
    /more than its 512 MiB of memory/,
  );
  await deploy(shellPackage("killed", "kill -9 $$"));
  assert.match((await ades.ended(await execute("killed", { name: "x" }))).message, /exit code 137 \(it was killed/);
});

test("a package that can never fit is refused", async () => {
  const { status, body } = await ades.send("/eric/ogc-api/processes", {
    text: shellPackage("huge", "true", "{ ResourceRequirement: { ramMin: 4096 } }"),
    type: "application/cwl",
  });
  assert.equal(status, 400);
  const cores = Math.min(2, availableParallelism());
  assert.match(
    body.detail,
    new RegExp(`asks for 1 cores and 4096 MiB of memory; a job may have ${cores} cores and 512 MiB here`),
  );
  const docker = '{ DockerRequirement: { dockerPull: "localhost/none:1" } }';
  await deploy(shellPackage("contained", "true", docker));
  const refused = await ades.send("/eric/ogc-api/processes/contained/execution", { json: { inputs: { name: "x" } } });
  assert.equal(refused.status, 400);
  assert.match(refused.body.detail, /demands the container localhost\/none:1, and no container engine is used here/);
});

const SOURCES: Readonly<Record<string, readonly [RequestListener, RegExp]>> = {
  missing: [(_, response) => void response.writeHead(404).end(), /answers 404: there is nothing at this address/],
  short: [
    (_, response) => void response.writeHead(200, { "content-length": 100 }).write("short", () => response.destroy()),
    /broke off|said that it sends 100 bytes and sent 5/,
  ],
  circle: [(_, response) => void response.writeHead(302, { location: "/" }).end(), /redirects in a circle/],
  private: [
    (_, response) => void response.writeHead(302, { location: "http://169.254.169.254/latest" }).end(),
    /169\.254\.169\.254, which is a private address/,
  ],
  checksum: [
    (_, response) => void response.writeHead(200, { "content-md5": Buffer.alloc(16).toString("base64") }).end("x"),
    /arrived with the md5 checksum/,
  ],
};

for (const [name, [listener, message]] of Object.entries(SOURCES)) {
  test(`a source that lies or is away (${name}) ends the job with what was wrong`, async (t) => {
    const url = await serve(t, listener);
    if ((await ades.send("/eric/ogc-api/processes/read")).status === 404) {
      await deploy(filePackage("read", "true"));
    }
    const job = await ades.ended(await execute("read", { file: { href: `${url}/` } }));
    assert.equal(job.status, "failed");
    assert.match(job.message, message);
    assert.equal((await ades.send(`/eric/ogc-api/jobs/${job.jobID}/results`)).status, name === "short" ? 500 : 400);
  });
}

test("a full disk is said to be full, and the service goes on", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "swath-full-"));
  const disk = join(folder, "disk");
  mkdirSync(disk);
  try {
    await run("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", disk]);
  } catch (error) {
    t.skip(`no small disk can be mounted here: ${(error as Error).message}`);
    return;
  }
  const small = await startAdes({ dataFolder: disk, env: { ALLOW_PRIVATE: "127.0.0.1/32", LOG_LEVEL: "fatal" } });
  t.after(async () => {
    await small.close();
    // What is killed at the end may hold a file of it for a moment.
    await run("umount", ["--lazy", disk]);
    rmSync(folder, { recursive: true, force: true });
  });
  const url = await serve(t, (_, response) => void response.end(LARGE));
  const send = async (id: string, text: string, inputs: object) => {
    await small.send("/eric/ogc-api/processes", { text, type: "application/cwl" });
    const { headers } = await small.send(`/eric/ogc-api/processes/${id}/execution`, {
      json: { inputs },
      headers: { prefer: "respond-async" },
    });
    return small.ended(headers.get("location") ?? "");
  };
  const staged = await send("read", filePackage("read", "true"), { file: { href: `${url}/large` } });
  assert.equal(staged.status, "failed");
  assert.match(staged.message, /disk of the processing service/);
  const written = await send("fill", shellPackage("fill", "head -c 20000000 /dev/zero > big"), { name: "x" });
  assert.equal(written.status, "failed");
  assert.match(written.message, /No space left on device|disk/);
  const next = await send("fine", shellPackage("fine", 'printf "%s" "$1"'), { name: "x" });
  assert.equal(next.status, "successful", next.message);
});

test("at the end every job has ended, and nothing of them is left on the disk", async () => {
  const { body } = await ades.send("/eric/ogc-api/jobs?limit=1000");
  assert.deepEqual(
    body.jobs.filter(({ status }: { status: string }) => status !== "successful" && status !== "failed"),
    [],
  );
  await waitUntil("folders are gone", () => readdirSync(join(ades.dataFolder, "jobs")).length === 0);
  assert.equal(await statusOf(`/eric/ogc-api/jobs/${body.jobs[0].jobID}`), body.jobs[0].status);
});
