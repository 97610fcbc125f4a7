import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { createLogger, loadSettings } from "@swath/service";
import sharp from "sharp";

import { buildDataAccess } from "../build.ts";
import { settings } from "../config.ts";

const SCENES = join(import.meta.dirname, "../../../examples/scenes");

/** The service over a copy of the example scenes, or of others, listening; and a server of files beside it. */
export async function start(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
  scenes = SCENES,
): Promise<{ url: string; files: string; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "data-access-"));
  cpSync(scenes, folder, { recursive: true });
  const files = createServer((request, response) => {
    const [, from = 0, to = 0] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "")?.map(Number) ?? [];
    try {
      const whole = readFileSync(join(folder, request.url ?? ""));
      const body = whole.subarray(from, to + 1);
      response.writeHead(206, { "content-range": `bytes ${from}-${from + body.length - 1}/${whole.length}` }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(files.address() as AddressInfo).port}`;
  const provided = loadSettings(settings, {
    LAYERS_FOLDER: folder,
    ALLOWED_HOSTS: host,
    THREADS: "2",
    CACHE_BYTES: "33554432",
    ...env,
  });
  const { app, close } = await buildDataAccess(provided, createLogger("data-access", "silent"));
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  t.after(async () => {
    await app.close();
    await close();
    files.closeAllConnections();
    files.close();
    rmSync(folder, { recursive: true });
  });
  return { url, files: `http://${host}`, folder };
}

export const getJson = async (url: string) => (await (await fetch(url)).json()) as Record<string, never>;

export async function getImage(url: string): Promise<{ width: number; height: number; mean: number; type: string }> {
  const response = await fetch(url);
  const bytes = Buffer.from(await response.arrayBuffer());
  assert.equal(response.status, 200, `${url}: ${bytes.toString("utf8", 0, 500)}`);
  const { width, height } = await sharp(bytes).metadata();
  const { channels } = await sharp(bytes).flatten({ background: "#000" }).stats();
  return { width, height, mean: channels[0]?.mean ?? 0, type: response.headers.get("content-type") ?? "" };
}

export async function findCollection(url: string): Promise<string> {
  const { collections } = (await getJson(`${url}/collections`)) as unknown as {
    collections: { id: string; styles: { id: string }[]; extent: { spatial: { bbox: number[][] } } }[];
  };
  const found = collections.find(({ styles }) => styles.some(({ id }) => id === "ndvi"));
  assert.ok(found !== undefined);
  return found.id;
}

/** The service answers in this process, which therefore must not wait for the client. */
export async function run(
  program: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...(env !== undefined && { env }) });
  const [stdout, stderr] = [[] as Buffer[], [] as Buffer[]];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { status, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
}
