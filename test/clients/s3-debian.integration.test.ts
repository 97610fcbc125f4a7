import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { ROOT, startObjstore } from "../../components/objstore/test/start-objstore.ts";

const run = promisify(execFile);
let store: Awaited<ReturnType<typeof startObjstore>>;
let folder: string;
let small: string;
let large: string;

before(async () => {
  store = await startObjstore();
  folder = await mkdtemp(join(tmpdir(), "s3-clients-"));
  small = join(folder, "small.bin");
  large = join(folder, "large.bin");
  await writeFile(small, randomBytes(5000));
  await writeFile(large, randomBytes(20 << 20));
});
after(async () => {
  await store.stop();
  await rm(folder, { recursive: true, force: true });
});

const environment = () => ({
  PATH: "/usr/bin:/bin",
  HOME: folder,
  AWS_ACCESS_KEY_ID: ROOT.accessKeyId,
  AWS_SECRET_ACCESS_KEY: ROOT.secretAccessKey,
  AWS_DEFAULT_REGION: "us-east-1",
  AWS_REGION: "us-east-1",
  AWS_S3_ENDPOINT: new URL(store.url).host,
  AWS_VIRTUAL_HOSTING: "FALSE",
  AWS_HTTPS: "NO",
  CPL_VSIL_USE_TEMP_FILE_FOR_RANDOM_WRITE: "YES",
  AWS_EC2_METADATA_DISABLED: "true",
});
const sameBytes = async (left: string, right: string) =>
  assert.ok((await readFile(left)).equals(await readFile(right)));
const needs = (program: string, pack: string) =>
  existsSync(program) ? {} : { skip: `needs Debian's package ${pack}` };

test("aws CLI", needs("/usr/bin/aws", "awscli"), async () => {
  const aws = (...args: string[]) =>
    run("/usr/bin/aws", ["--endpoint-url", store.url, ...args], { env: environment() });
  await aws("s3", "mb", "s3://aws-cli");
  await aws("s3", "cp", small, "s3://aws-cli/dir/small file.bin");
  await aws("s3", "cp", large, "s3://aws-cli/dir/large.bin");
  assert.match((await aws("s3", "ls", "s3://aws-cli/dir/")).stdout, /20971520 large\.bin[\s\S]*5000 small file\.bin/);
  await aws("s3", "cp", "s3://aws-cli/dir/large.bin", "s3://aws-cli/copy.bin");
  const down = join(folder, "aws.bin");
  await aws("s3", "cp", "s3://aws-cli/copy.bin", down);
  await sameBytes(large, down);
  await aws("s3api", "get-object", "--bucket", "aws-cli", "--key", "copy.bin", "--range", "bytes=7-9", down);
  assert.equal((await readFile(down)).length, 3);
  const { stdout: url } = await aws("s3", "presign", "s3://aws-cli/dir/small file.bin");
  const response = await fetch(url.trim());
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), await readFile(small));
  await aws("s3", "rb", "--force", "s3://aws-cli");
});

test("s3cmd", needs("/usr/bin/s3cmd", "s3cmd"), async () => {
  const { host } = new URL(store.url);
  const options = [
    "--no-ssl",
    `--host=${host}`,
    `--host-bucket=${host}`,
    `--access_key=${ROOT.accessKeyId}`,
    `--secret_key=${ROOT.secretAccessKey}`,
    "--multipart-chunk-size-mb=8",
  ];
  const s3cmd = (...args: string[]) => run("/usr/bin/s3cmd", [...options, ...args], { env: environment() });
  await s3cmd("mb", "s3://s3cmd-test");
  await s3cmd("put", small, large, "s3://s3cmd-test/");
  await s3cmd("cp", "s3://s3cmd-test/large.bin", "s3://s3cmd-test/copy.bin");
  const down = join(folder, "s3cmd.bin");
  await s3cmd("get", "s3://s3cmd-test/copy.bin", down);
  await sameBytes(large, down);
  assert.match((await s3cmd("info", "s3://s3cmd-test")).stdout, /Location:\s+us-east-1/);
  assert.match((await s3cmd("ls", "s3://s3cmd-test")).stdout, /5000 +s3:\/\/s3cmd-test\/small\.bin/);
  const { stdout: url } = await s3cmd("signurl", "s3://s3cmd-test/small.bin", "+60");
  assert.ok(url.includes("small.bin"));
  await s3cmd("rb", "--recursive", "--force", "s3://s3cmd-test");
});

test("rclone", needs("/usr/bin/rclone", "rclone"), async () => {
  const config = join(folder, "rclone.conf");
  await writeFile(
    config,
    `[s]\ntype = s3\nprovider = Other\nenv_auth = true\nendpoint = ${store.url}\nregion = us-east-1\n`,
  );
  const rclone = (...args: string[]) =>
    run("/usr/bin/rclone", ["--config", config, "--s3-upload-cutoff=10M", ...args], { env: environment() });
  const source = join(folder, "tree");
  await rclone("copy", small, `${source}/ä b`);
  await rclone("copy", large, source);
  await rclone("sync", source, "s:rclone-test/deep");
  await rclone("check", "--download", source, "s:rclone-test/deep");
  await rclone("copyto", "s:rclone-test/deep/large.bin", "s:rclone-test/other/large.bin");
  assert.match((await rclone("lsf", "-R", "s:rclone-test")).stdout, /deep\/ä b\/small\.bin/);
  await rclone("purge", "s:rclone-test");
});

test("GDAL reads a COG by ranges and writes one", needs("/usr/bin/gdal_translate", "gdal-bin"), async () => {
  const gdal = (program: string, ...args: string[]) => run(`/usr/bin/${program}`, args, { env: environment() });
  const plain = join(folder, "plain.tif");
  const grid = join(folder, "grid.asc");
  const rows = Array.from({ length: 600 }, (_, row) =>
    Array.from({ length: 600 }, (__, column) => (row * column) % 251).join(" "),
  );
  await writeFile(grid, `ncols 600\nnrows 600\nxllcorner 0\nyllcorner 0\ncellsize 1\n${rows.join("\n")}\n`);
  await gdal("gdal_translate", "-q", "-of", "COG", grid, plain);
  await fetchRoot("PUT", "/gdal-test");
  await gdal("gdal_translate", "-q", "-of", "COG", plain, "/vsis3/gdal-test/cogs/c.tif");
  assert.match(
    (await gdal("gdalinfo", "-checksum", "/vsis3/gdal-test/cogs/c.tif")).stdout,
    /LAYOUT=COG[\s\S]*Checksum=/,
  );
  const [here, there] = await Promise.all(
    [plain, "/vsis3/gdal-test/cogs/c.tif"].map((path) => gdal("gdalinfo", "-checksum", path)),
  );
  assert.equal(/Checksum=\d+/.exec(here?.stdout ?? "")?.[0], /Checksum=\d+/.exec(there?.stdout ?? "")?.[0]);
});

test("restic", needs("/usr/bin/restic", "restic"), async () => {
  const repository = `s3:${store.url}/restic-test/backups`;
  const env = {
    ...environment(),
    RESTIC_REPOSITORY: repository,
    RESTIC_PASSWORD: "a-password-of-the-tests",
    RESTIC_CACHE_DIR: join(folder, "restic-cache"),
  };
  const restic = (...args: string[]) => run("/usr/bin/restic", args, { env, cwd: folder });
  await restic("init");
  await restic("backup", "small.bin", "large.bin");
  await writeFile(join(folder, "more.bin"), randomBytes(3 << 20));
  await restic("backup", "small.bin", "more.bin");
  await restic("check", "--read-data");
  const back = join(folder, "restored");
  await restic("restore", "latest", "--target", back);
  await sameBytes(small, join(back, "small.bin"));
  await sameBytes(join(folder, "more.bin"), join(back, "more.bin"));
  await restic("forget", "--keep-last", "1", "--group-by", "host", "--prune");
  assert.equal((JSON.parse((await restic("snapshots", "--json")).stdout) as unknown[]).length, 1);
});

test("boto3", needs("/usr/lib/python3/dist-packages/boto3", "python3-boto3"), async () => {
  const script = join(import.meta.dirname, "boto3-round-trip.py");
  const { accessKeyId, secretAccessKey } = ROOT;
  const { stdout } = await run("/usr/bin/python3", [script, store.url, accessKeyId, secretAccessKey, folder], {
    env: environment(),
  });
  assert.equal(stdout.trim(), "done");
});

async function fetchRoot(method: string, path: string): Promise<void> {
  const authorization = `Basic ${Buffer.from(`${ROOT.accessKeyId}:${ROOT.secretAccessKey}`).toString("base64")}`;
  const response = await fetch(`${store.consoleUrl}/api/buckets${path}`, { method, headers: { authorization } });
  assert.equal(response.status, 201);
}
