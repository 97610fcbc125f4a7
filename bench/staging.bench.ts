import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { stageIn } from "../components/ades/staging/stage-in.ts";
import { stageOut } from "../components/ades/staging/stage-out.ts";
import { makeFolder, openAccess, startNginx, startObjstore } from "../components/ades/staging/test/servers.ts";
import { presign } from "../components/objstore/admin/presign.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./types.ts";

const run = promisify(execFile);
const FILES = 4;
const MEBIBYTES = 64;
const SMALL = 200;
/** Of small files more: a round takes a tenth of a second, and a runner carries out a thousand jobs. */
const ROUNDS = { large: 3, small: 15 };

/** Staging beside plain tools that move the same files. Needs Debian's nginx and curl; with awscli one comparison more. */
export async function bench(): Promise<BenchRow[]> {
  const missing = ["/usr/sbin/nginx", "/usr/bin/curl"].filter((program) => !existsSync(program));
  if (missing.length > 0) {
    throw new Error(`this benchmark needs ${missing.join(", ")} (Debian packages nginx-light, curl)`);
  }
  const folder = await makeFolder();
  const nginx = await startNginx(folder);
  const objstore = await startObjstore();
  try {
    const large = await makeScene(folder, "large", FILES, MEBIBYTES * 2 ** 20);
    const small = await makeScene(folder, "small", SMALL, 32 * 2 ** 10);
    const rows: BenchRow[] = [];
    for (const scene of [large, small]) {
      rows.push(...(await benchScene(folder, scene, nginx.url, objstore)));
    }
    return rows;
  } finally {
    await nginx.stop();
    await objstore.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Scene {
  readonly name: keyof typeof ROUNDS;
  readonly files: readonly string[];
  readonly megabytes: number;
  readonly title: string;
}

async function makeScene(folder: string, name: Scene["name"], count: number, bytes: number): Promise<Scene> {
  const directory = join(folder, name);
  await mkdir(directory);
  const files = Array.from({ length: count }, (_, index) => `band-${index}.tif`);
  for (const file of files) {
    await run("/usr/bin/dd", [
      "if=/dev/urandom",
      `of=${join(directory, file)}`,
      `bs=${bytes}`,
      "count=1",
      "iflag=fullblock",
    ]);
  }
  const assets = Object.fromEntries(files.map((file) => [file, { href: `./${file}`, type: "image/tiff" }]));
  const item = {
    type: "Feature",
    stac_version: "1.0.0",
    id: name,
    geometry: null,
    properties: { datetime: "2026-01-01T00:00:00Z" },
    links: [],
    assets,
  };
  await writeFile(join(directory, "item.json"), JSON.stringify(item));
  const links = [{ rel: "item", href: "./item.json" }];
  await writeFile(
    join(directory, "catalog.json"),
    JSON.stringify({ type: "Catalog", stac_version: "1.0.0", id: name, description: "", links }),
  );
  const megabytes = (count * bytes) / 1e6;
  const unit = bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 10} KiB`;
  return { name, files, megabytes, title: `${count} files of ${unit}` };
}

type Objstore = Awaited<ReturnType<typeof startObjstore>>;

async function benchScene(folder: string, scene: Scene, url: string, objstore: Objstore): Promise<BenchRow[]> {
  const source = join(folder, scene.name);
  await upload(source, scene, objstore);
  const access = openAccess({ s3: [objstore.endpoint], limits: {} });
  const signal = AbortSignal.timeout(600_000);
  const stage = (href: string) => (target: string) =>
    stageIn({ source: { href, as: "directory" }, target, access, signal });
  const curl = async (target: string, addressOf: (file: string) => string | Promise<string>) => {
    const outputs = await Promise.all(
      scene.files.map(async (file) => ["-o", join(target, file), await addressOf(file)]),
    );
    const parts = outputs.flat();
    await mkdir(target);
    await run("/usr/bin/curl", ["-sf", "--parallel", "--parallel-max", "4", ...parts]);
  };
  let job = 0;
  const publish = () => {
    const jobId = `${scene.name}-${(job += 1)}`;
    return stageOut({
      directory: source,
      target: { ...objstore.endpoint, bucket: "results" },
      prefix: `out/${jobId}`,
      jobId,
      signal,
    });
  };
  const candidates: Readonly<Record<string, (target: string) => Promise<unknown>>> = {
    http: stage(`${url}/${scene.name}/item.json`),
    s3: stage(`s3://results/in/${scene.name}/item.json`),
    curl: (target) => curl(target, (file) => `${url}/${scene.name}/${file}`),
    get: (target) => curl(target, (file) => sign(objstore, "GET", `in/${scene.name}/${file}`)),
    cp: (target) => run("/usr/bin/cp", ["-r", source, target]),
    out: publish,
    put: async () => {
      const signed = await Promise.all(
        scene.files.map(async (file) => [
          "-T",
          join(source, file),
          await sign(objstore, "PUT", `put/${scene.name}-${job}/${file}`),
        ]),
      );
      const parts = signed.flat();
      return run("/usr/bin/curl", ["-sf", "--parallel", "--parallel-max", "4", ...parts]);
    },
    ...(existsSync("/usr/bin/aws") && {
      aws: () => copyWithAws(source, `s3://results/aws/${scene.name}-${(job += 1)}/`, objstore),
    }),
  };
  const speeds: Record<string, number[]> = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS[scene.name]; round += 1) {
    for (const [name, work] of Object.entries(candidates)) {
      const target = join(folder, `target-${name}`);
      // What the one before has left for the disk is not charged to the next.
      await run("/usr/bin/sync");
      const started = performance.now();
      await work(target);
      speeds[name]?.push(scene.megabytes / ((performance.now() - started) / 1000));
      await rm(target, { recursive: true, force: true });
    }
  }
  const speed = (name: string) => Math.round(median(speeds[name] ?? []));
  const row = (what: string, name: string, peer: string, title: string, aim: string): BenchRow => ({
    name: `stage-${what}, ${scene.title}`,
    value: speed(name),
    unit: "MB/s",
    aim,
    peer: { name: title, value: speed(peer) },
    ratio: speed(name) / speed(peer),
    note: `median of ${ROUNDS[scene.name]}`,
  });
  return [
    row("in by HTTP", "http", "curl", "curl, 4 at a time", "≥ 0.7 × curl"),
    row("in by HTTP", "http", "cp", "cp", "—"),
    row("in by S3", "s3", "get", "curl from the same store, 4 at a time", "≥ 0.7 × curl"),
    row(
      "out",
      "out",
      "put",
      "curl -T to the same store, 4 at a time",
      `≥ ${scene.name === "small" ? 0.9 : 0.7} × curl`,
    ),
    ...("aws" in candidates ? [row("out", "out", "aws", "aws s3 cp --recursive", "≥ 1 × aws")] : []),
  ];
}

/** In one part each, with the checksum that current clients send by themselves: staging checks it. */
async function upload(source: string, scene: Scene, { put }: Objstore): Promise<void> {
  for (const file of await readdir(source)) {
    await put(`in/${scene.name}/${file}`, await readFile(join(source, file)), "CRC32");
  }
}

function sign({ endpoint }: Objstore, method: "GET" | "PUT", key: string): Promise<string> {
  return presign({
    publicUrl: endpoint.endpoint,
    region: endpoint.region,
    credential: {
      id: endpoint.credentials?.accessKeyId ?? "",
      secret: endpoint.credentials?.secretAccessKey ?? "",
      token: null,
    },
    method,
    bucket: "results",
    key,
    seconds: 3600,
    query: {},
    now: Date.now(),
  });
}

async function copyWithAws(source: string, target: string, { endpoint }: Objstore): Promise<void> {
  await run(
    "/usr/bin/aws",
    ["--endpoint-url", endpoint.endpoint, "s3", "cp", "--quiet", "--recursive", source, target],
    {
      env: {
        PATH: "/usr/bin:/bin",
        AWS_ACCESS_KEY_ID: endpoint.credentials?.accessKeyId,
        AWS_SECRET_ACCESS_KEY: endpoint.credentials?.secretAccessKey,
        AWS_DEFAULT_REGION: endpoint.region,
      },
    },
  );
}
