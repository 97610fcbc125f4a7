import assert from "node:assert/strict";
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type Server, createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { stageIn } from "../stage-in.ts";
import { StagingError } from "../errors.ts";
import { stageOut } from "../stage-out.ts";
import type { SourceAccess, StageInSource } from "../types.ts";
import { makeFolder, openAccess, startObjstore, startServer } from "./servers.ts";

const run = promisify(execFile);
const LARGE = Buffer.alloc(40 * 2 ** 20, "0123456789abcdef-");

let folder: string;

before(async () => {
  folder = await makeFolder();
});

after(async () => {
  await rm(folder, { recursive: true, force: true });
});

const stage = (source: StageInSource, target: string, access: SourceAccess = openAccess()) =>
  stageIn({ source, target: join(folder, target), access, signal: AbortSignal.timeout(60_000) });

test("a process that is killed while it stages in is followed by one that continues", async (t) => {
  const ranges: (string | undefined)[] = [];
  let isKilled = false;
  const server = await startServer(t, ({ headers }, response) => {
    ranges.push(headers.range);
    const start = Number(/\d+/.exec(headers.range ?? "0")?.[0]);
    response.writeHead(start > 0 ? 206 : 200, {
      etag: '"one"',
      "content-length": LARGE.length - start,
      ...(start > 0 && { "content-range": `bytes ${start}-${LARGE.length - 1}/${LARGE.length}` }),
    });
    // Who is to be killed never gets the end.
    response.write(LARGE.subarray(start, isKilled ? undefined : 30 * 2 ** 20));
  });
  const source = { href: `${server.url}/large.bin`, as: "file" } as const;
  const child = fork(join(import.meta.dirname, "stage-in-child.ts"), [source.href, join(folder, "killed")]);
  const ended = once(child, "exit");
  const halfWay = new Promise<void>((resolve) =>
    child.on("message", (bytes) => (bytes as number) >= 20 * 2 ** 20 && resolve()),
  );
  await Promise.race([halfWay, ended.then(() => assert.fail("it ended by itself"))]);
  child.kill("SIGKILL");
  await ended;
  isKilled = true;
  assert.ok(!existsSync(join(folder, "killed/large.bin")));
  const { path } = await stage(source, "killed");
  assert.ok((await readFile(path)).equals(LARGE));
  assert.equal(ranges.length, 2);
  assert.match(ranges[1] ?? "", /^bytes=\d{8}-$/);
});

test("an object store that is killed while results go to it gets them when it is back", async () => {
  const objstore = await startObjstore();
  try {
    const output = join(folder, "output");
    await mkdir(output);
    await writeFile(join(output, "large.bin"), LARGE);
    await writeFile(join(output, "small.txt"), "small");
    let killing: Promise<void> | undefined;
    const send = () =>
      stageOut({
        directory: output,
        target: { ...objstore.endpoint, bucket: "results" },
        prefix: "processing-results/killed",
        jobId: "killed",
        signal: AbortSignal.timeout(120_000),
        onProgress: (bytes) => {
          if (bytes > LARGE.length / 4) {
            killing ??= objstore.kill().then(objstore.start);
          }
        },
      });
    // A store that takes long to come back is asked again by whoever stores results, as the processing service does.
    const { files, collection } = await send().catch(async (error: unknown) => {
      assert.ok(error instanceof StagingError && error.temporary, String(error));
      await killing;
      return send();
    });
    assert.ok(killing !== undefined);
    await killing;
    assert.equal(files.length, 4);
    const access = openAccess({ s3: [objstore.endpoint] });
    const { path } = await stage({ href: collection.assets?.["large.bin"]?.href ?? "", as: "file" }, "back", access);
    assert.ok((await readFile(path)).equals(LARGE));
  } finally {
    await objstore.stop();
  }
});

test("the object store and other services are reached by their sockets", async (t) => {
  const objstore = await startObjstore("socket");
  t.after(() => objstore.stop());
  await objstore.put("a b/ü.txt", "by socket");
  const { path } = await stage(
    { href: "s3://results/a b/ü.txt", as: "file" },
    "socket",
    openAccess({ s3: [objstore.endpoint] }),
  );
  assert.equal(await readFile(path, "utf8"), "by socket");
  const { credentials: _, ...anonymous } = objstore.endpoint;
  await assert.rejects(
    stage({ href: "s3://results/a b/ü.txt", as: "file" }, "anonymous", openAccess({ s3: [anonymous] })),
    {
      code: "source",
      message: /access is refused to the credentials in use/,
    },
  );

  const socket = join(folder, "peer.sock");
  const server = createHttpServer(({ url, headers }, response) => response.end(`${url} for ${headers.host}`));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  t.after(() => server.close());
  const access = openAccess({
    allowPrivate: [],
    internal: [
      { publicUrl: "https://data.swath.localhost/base", peerUrl: `http+unix://${encodeURIComponent(socket)}` },
    ],
  });
  const peer = await stage({ href: "https://data.swath.localhost/base/file?x=1", as: "file" }, "peer", access);
  assert.equal(await readFile(peer.path, "utf8"), "/base/file?x=1 for data.swath.localhost");
});

test("an own authority is trusted when it is named, and only then", async (t) => {
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  try {
    await run("openssl", [
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "1",
      "-keyout",
      key,
      "-out",
      certificate,
      ...subject,
    ]);
  } catch (error) {
    t.skip(`openssl is not installed (Debian package openssl): ${(error as Error).message}`);
    return;
  }
  const pem = await readFile(certificate, "utf8");
  const server: Server = createTlsServer({ key: await readFile(key), cert: pem }, (_, response) =>
    response.end("trusted"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const href = `https://127.0.0.1:${(server.address() as AddressInfo).port}/file`;
  await assert.rejects(stage({ href, as: "file" }, "untrusted"), {
    temporary: false,
    message: /the certificate of its source is not trusted/,
  });
  const { path } = await stage({ href, as: "file" }, "trusted", openAccess({ certificateAuthority: pem }));
  assert.equal(await readFile(path, "utf8"), "trusted");
});

test("a full disk is said to be full", async (t) => {
  const disk = join(folder, "disk");
  await mkdir(disk);
  try {
    await run("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]);
  } catch (error) {
    t.skip(`no small disk can be mounted here: ${(error as Error).message}`);
    return;
  }
  t.after(() => run("umount", [disk]));
  const server = await startServer(t, (_, response) => response.end(LARGE));
  await assert.rejects(stage({ href: server.url, as: "file" }, "disk/input"), {
    code: "limit",
    message: /does not fit on the disk of the processing service/,
  });
});
