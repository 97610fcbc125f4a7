import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statfsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { presign } from "../admin/presign.ts";
import { PROCESS_ENVIRONMENT } from "../process-environment.ts";
import { ROOT } from "./start-objstore.ts";

const MEBIBYTE = 2 ** 20;
const BLOCK = Buffer.alloc(MEBIBYTE, "0123456789abcdef swath ");

/** The block of a large body: no two are alike. */
function blockOf(number: number): Buffer {
  BLOCK.writeUInt32BE(number);
  return BLOCK;
}

const { bavail, bsize } = statfsSync(tmpdir());
const options =
  bavail * bsize < 1200 * MEBIBYTE ? { skip: `needs 1200 MiB of free disk for temporary files (${tmpdir()})` } : {};

test(
  "an object of 1 GiB goes up in one request and comes back whole and in ranges; memory stays below 200 MB",
  options,
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "objstore-large-"));
    const child = fork(join(import.meta.dirname, "crash-child.ts"), [folder, "none"], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: { ...process.env, ...PROCESS_ENVIRONMENT },
    });
    t.after(async () => {
      child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    });
    const [port] = (await once(child, "message")) as [number];
    const publicUrl = `http://127.0.0.1:${port}`;
    const credential = { id: ROOT.accessKeyId, secret: ROOT.secretAccessKey, token: null };
    const sign = (method: "GET" | "PUT", key: string) =>
      presign({
        publicUrl,
        region: "us-east-1",
        credential,
        method,
        bucket: "large",
        key,
        seconds: 3600,
        now: Date.now(),
      });
    assert.equal((await fetch(await sign("PUT", ""), { method: "PUT" })).status, 200);

    const blocks = 1024;
    const sent = createHash("sha256");
    const md5 = createHash("md5");
    const upload = request(await sign("PUT", "object"), {
      method: "PUT",
      headers: { "content-length": blocks * MEBIBYTE },
    });
    const answered = once(upload, "response");
    for (let number = 0; number < blocks; number += 1) {
      const block = Buffer.from(blockOf(number));
      sent.update(block);
      md5.update(block);
      if (!upload.write(block)) {
        await once(upload, "drain");
      }
    }
    upload.end();
    const [response] = (await answered) as [{ statusCode: number; headers: Record<string, string> }];
    assert.equal(response.statusCode, 200);
    assert.equal(response.headers["etag"], `"${md5.digest("hex")}"`);

    const received = createHash("sha256");
    const whole = await fetch(await sign("GET", "object"));
    assert.equal(whole.headers.get("content-length"), String(blocks * MEBIBYTE));
    for await (const chunk of whole.body ?? []) {
      received.update(chunk);
    }
    assert.equal(received.digest("hex"), sent.digest("hex"));
    for (const number of [0, 511, 1023]) {
      const range = `bytes=${number * MEBIBYTE}-${number * MEBIBYTE + 99}`;
      const part = await fetch(await sign("GET", "object"), { headers: { range } });
      assert.equal(part.status, 206);
      assert.deepEqual(Buffer.from(await part.arrayBuffer()), blockOf(number).subarray(0, 100));
    }
    const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024;
    assert.ok(peak < 200, `the service took ${Math.round(peak)} MB`);
  },
);
