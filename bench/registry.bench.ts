import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startTestServer } from "@swath/postgres/server";
import { findFreePorts, waitUntil } from "@swath/testing";

import { PROCESS_ENVIRONMENT } from "../components/registry/process-environment.ts";
import { median, medianSeconds } from "./median.ts";
import type { BenchRow } from "./types.ts";

const PASSWORD = "only for this measurement";
const AUTHORIZATION = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString("base64")}`;
const MIB = 2 ** 20;
const LAYERS = 4;
const LAYER_BYTES = 50 * MIB;
const MANIFESTS = 500;
const CLIENTS = 32;
const PARALLEL_PUSHES = 32;
const PARALLEL_BYTES = 256 * MIB;
const TAGS = 10_000;
const IMAGE = "application/vnd.oci.image.manifest.v1+json";

const digestOf = (content: Buffer) => `sha256:${createHash("sha256").update(content).digest("hex")}`;

/** Pushes and pulls with skopeo beside Debian's docker-registry, and what only our own interfaces show. */
export async function bench(): Promise<BenchRow[]> {
  const missing = ["skopeo", "docker-registry"].filter((name) => !existsSync(`/usr/bin/${name}`));
  if (missing.length > 0) {
    throw new Error(`needs Debian's packages ${missing.join(", ")}`);
  }
  const folder = mkdtempSync(join(tmpdir(), "swath-registry-bench-"));
  const postgres = await startTestServer();
  const [own = 0, theirs = 0] = await findFreePorts(2);
  const url = `http://127.0.0.1:${own}`;
  const children: ChildProcess[] = [];
  try {
    const service = startOwn(url, postgres.url, folder);
    children.push(service, startPeer(theirs, folder));
    for (const port of [own, theirs]) {
      await waitUntil("both registries answer", async () => {
        const response = await fetch(`http://127.0.0.1:${port}/v2/`).catch(() => undefined);
        return response !== undefined;
      });
    }
    await send(url, "POST", "/api/v2.0/projects", Buffer.from('{"project_name":"bench"}'), "application/json");
    return [
      ...(await comparePushAndPull(folder, own, theirs)),
      await measureManifests(url),
      await measureTags(url),
      await measureDelete(url, folder),
      await measureMemory(url, service),
    ];
  } finally {
    for (const child of children) {
      child.kill("SIGKILL");
    }
    await postgres.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function startOwn(url: string, database: string, folder: string): ChildProcess {
  return spawn(process.execPath, [join(import.meta.dirname, "../components/registry/main.ts")], {
    env: {
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      ...PROCESS_ENVIRONMENT,
      LOG_LEVEL: "error",
      DATABASE_URL: database,
      PUBLIC_URL: url,
      LISTEN: new URL(url).host,
      REGISTRY_ADMIN_PASSWORD: PASSWORD,
      TOKEN_SECRET: randomBytes(32).toString("hex"),
      DATA_DIR: join(folder, "own"),
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

function startPeer(port: number, folder: string): ChildProcess {
  const config = join(folder, "peer.yml");
  writeFileSync(
    config,
    `version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: ${join(folder, "peer")}}}\nhttp: {addr: "127.0.0.1:${port}"}\n`,
  );
  return spawn("/usr/bin/docker-registry", ["serve", config], { stdio: "ignore" });
}

/** 200 MiB in 4 layers up and down, and the same again when everything is there. */
async function comparePushAndPull(folder: string, own: number, theirs: number): Promise<BenchRow[]> {
  const measure = (host: string, repository: string) => {
    const times: Record<"push" | "pull" | "again", number[]> = { push: [], pull: [], again: [] };
    const time = (kind: keyof typeof times, work: () => void) => {
      const started = performance.now();
      work();
      times[kind].push(performance.now() - started);
    };
    return {
      times,
      round: (turn: number, source: string) => {
        const image = `docker://${host}/${repository}:${turn}`;
        time("push", () =>
          skopeo("copy", "--dest-tls-verify=false", "--dest-creds", `admin:${PASSWORD}`, `oci:${source}`, image),
        );
        time("again", () =>
          skopeo("copy", "--dest-tls-verify=false", "--dest-creds", `admin:${PASSWORD}`, `oci:${source}`, image),
        );
        const target = join(folder, "pulled");
        rmSync(target, { recursive: true, force: true });
        time("pull", () =>
          skopeo("copy", "--src-tls-verify=false", "--src-creds", `admin:${PASSWORD}`, image, `oci:${target}`),
        );
      },
    };
  };
  const ours = measure(`127.0.0.1:${own}`, "bench/image");
  const peer = measure(`127.0.0.1:${theirs}`, "bench/image");
  for (let turn = 0; turn < 5; turn++) {
    const source = join(folder, `image-${turn}`);
    makeImage(source);
    // In turns, so that neither has the quieter machine.
    for (const each of turn % 2 === 0 ? [ours, peer] : [peer, ours]) {
      each.round(turn, source);
    }
    rmSync(source, { recursive: true, force: true });
  }
  // Nothing was sent from here meanwhile, and the service has ended the connections that rested.
  agent.destroy();
  const row = (kind: "push" | "pull", name: string): BenchRow => {
    const [value, other] = [median(ours.times[kind]) / 1000, median(peer.times[kind]) / 1000];
    return {
      name,
      value,
      unit: "s",
      aim: "≤ 1.0 × docker-registry",
      peer: { name: "docker-registry", value: other },
      ratio: value / other,
    };
  };
  return [
    row("push", "push of 200 MiB in 4 layers, skopeo"),
    row("pull", "pull of 200 MiB in 4 layers, skopeo"),
    {
      name: "push of an image whose layers exist, skopeo's process included",
      value: median(ours.times.again),
      unit: "ms",
      aim: "≤ 60 ms",
      peer: { name: "docker-registry", value: median(peer.times.again) },
      ratio: median(ours.times.again) / median(peer.times.again),
    },
  ];
}

function skopeo(...args: readonly string[]): void {
  const { status, stderr } = spawnSync("/usr/bin/skopeo", args, { encoding: "utf8" });
  if (status !== 0) {
    throw new Error(`skopeo ${args.join(" ")}: ${stderr}`);
  }
}

/** An OCI layout with an image of random layers. */
function makeImage(folder: string): void {
  mkdirSync(join(folder, "blobs/sha256"), { recursive: true });
  const put = (content: Buffer, mediaType: string) => {
    const digest = digestOf(content);
    writeFileSync(join(folder, "blobs/sha256", digest.slice(7)), content);
    return { mediaType, digest, size: content.length };
  };
  const layers = Array.from({ length: LAYERS }, () =>
    put(randomBytes(LAYER_BYTES), "application/vnd.oci.image.layer.v1.tar"),
  );
  const config = put(
    Buffer.from(
      JSON.stringify({
        architecture: "amd64",
        os: "linux",
        rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => digest) },
      }),
    ),
    "application/vnd.oci.image.config.v1+json",
  );
  const manifest = put(Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: IMAGE, config, layers })), IMAGE);
  writeFileSync(join(folder, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
  writeFileSync(join(folder, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [manifest] }));
}

const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });

function send(
  url: string,
  method: string,
  path: string,
  body?: Buffer,
  type = "application/octet-stream",
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: AUTHORIZATION,
      "content-length": body?.length ?? 0,
      // A type without a body is refused where JSON is expected.
      ...(body && { "content-type": type }),
    };
    const sent = request(`${url}${path}`, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const content = Buffer.concat(chunks);
        if ((response.statusCode ?? 500) >= 300) {
          reject(new Error(`${method} ${path}: ${response.statusCode} ${content.toString()}`));
        } else {
          resolve(content);
        }
      });
    });
    sent.on("error", (cause) => reject(new Error(`${method} ${path}: ${cause.message}`, { cause })));
    sent.end(body);
  });
}

const CONFIG = Buffer.from("{}");

async function pushConfig(url: string, repository: string): Promise<void> {
  await send(url, "POST", `/v2/${repository}/blobs/uploads/?digest=${digestOf(CONFIG)}`, CONFIG);
}

function manifestOf(more: object): Buffer {
  const config = {
    mediaType: "application/vnd.oci.image.config.v1+json",
    digest: digestOf(CONFIG),
    size: CONFIG.length,
  };
  return Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: IMAGE, config, layers: [], ...more }));
}

async function measureManifests(url: string): Promise<BenchRow> {
  await pushConfig(url, "bench/many");
  for (let index = 0; index < MANIFESTS; index++) {
    await send(
      url,
      "PUT",
      `/v2/bench/many/manifests/t${index}`,
      manifestOf({ annotations: { index: String(index) } }),
      IMAGE,
    );
  }
  const seconds = await medianSeconds(3, async () => {
    let next = 0;
    const client = async () => {
      for (let index = next++; index < MANIFESTS * 10; index = next++) {
        await send(url, "GET", `/v2/bench/many/manifests/t${index % MANIFESTS}`);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  });
  return {
    name: "500 small manifests pulled by tag, 32 clients (their process shares the machine)",
    value: (MANIFESTS * 10) / seconds,
    unit: "/s",
    aim: "≥ 3,000 /s",
  };
}

async function measureTags(url: string): Promise<BenchRow> {
  await pushConfig(url, "bench/tags");
  const manifest = manifestOf({});
  for (let start = 0; start < TAGS; start += 100) {
    const tags = Array.from({ length: 100 }, (_, index) => `tag=v${start + index}`).join("&");
    await send(url, "PUT", `/v2/bench/tags/manifests/${digestOf(manifest)}?${tags}`, manifest, IMAGE);
  }
  const seconds = await medianSeconds(20, () => send(url, "GET", "/v2/bench/tags/tags/list?n=1000&last=v5"));
  return { name: "a page of 1,000 of 10,000 tags", value: seconds * 1000, unit: "ms", aim: "≤ 30 ms" };
}

async function pushRandom(url: string, repository: string, bytes: number): Promise<{ digest: string; size: number }> {
  const content = randomBytes(bytes);
  await send(url, "POST", `/v2/${repository}/blobs/uploads/?digest=${digestOf(content)}`, content);
  return { digest: digestOf(content), size: bytes };
}

async function measureDelete(url: string, folder: string): Promise<BenchRow> {
  await pushConfig(url, "bench/large");
  const layers = [];
  for (let index = 0; index < 8; index++) {
    const blob = await pushRandom(url, "bench/large", 256 * MIB);
    layers.push({ mediaType: "application/vnd.oci.image.layer.v1.tar", ...blob });
  }
  await send(url, "PUT", "/v2/bench/large/manifests/1", manifestOf({ layers }), IMAGE);
  const before = usedMib(folder);
  const started = performance.now();
  await send(url, "DELETE", "/api/v2.0/projects/bench/repositories/large");
  await waitUntil("the space is free", async () => usedMib(folder) <= before - 2048);
  return {
    name: "delete of a repository of 2 GiB until its space is free",
    value: (performance.now() - started) / 1000,
    unit: "s",
    aim: "≤ 60 s",
  };
}

/** Mebibytes of the files with content. */
function usedMib(folder: string): number {
  const files = globSync("own/blobs/*/*", { cwd: folder });
  return (
    files.reduce((sum, file) => sum + (statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0), 0) / MIB
  );
}

/** 32 pushes of 256 MiB at once; their senders are throttled by the service. */
async function measureMemory(url: string, service: ChildProcess): Promise<BenchRow> {
  const piece = randomBytes(MIB);
  const push = () =>
    new Promise<void>((resolve, reject) => {
      const begin = async () => {
        const response = await fetch(`${url}/v2/bench/parallel/blobs/uploads/`, {
          method: "POST",
          headers: { authorization: AUTHORIZATION },
        });
        const target = `${url}${response.headers.get("location") ?? ""}`;
        const sent = request(target, { method: "PATCH", headers: { authorization: AUTHORIZATION } }, (response) => {
          response.resume();
          response.on("end", () => {
            fetch(target, { method: "DELETE", headers: { authorization: AUTHORIZATION } }).then(
              () => resolve(),
              reject,
            );
          });
        });
        sent.on("error", reject);
        let left = PARALLEL_BYTES / MIB;
        const pump = () => {
          while (left-- > 0) {
            if (!sent.write(piece)) {
              sent.once("drain", pump);
              return;
            }
          }
          sent.end();
        };
        pump();
      };
      begin().catch(reject);
    });
  await Promise.all(Array.from({ length: PARALLEL_PUSHES }, push));
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, "utf8"))?.[1];
  return {
    name: "memory at most, 32 parallel pushes of 256 MiB",
    value: Number(peak) / 1024,
    unit: "MiB",
    aim: "≤ 200 MB",
  };
}
