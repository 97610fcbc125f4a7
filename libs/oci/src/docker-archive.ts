import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip, createZstdDecompress } from "node:zlib";

import { ArchiveWriter } from "@swath/archive";

import type { Descriptor } from "./manifest.ts";
import { type RegistryClient, RegistryRefusal, digestOf } from "./registry-client.ts";
import type { RegistryWriter } from "./registry-writer.ts";
import { findImage } from "./save-image.ts";

const MANIFEST = "application/vnd.docker.distribution.manifest.v2+json";
const CONFIG = "application/vnd.docker.container.image.v1+json";
const LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip";
const MAX_DOCUMENT_BYTES = 4 << 20;

/** An image as `manifest.json` of `docker save` names it. */
interface SavedImage {
  readonly Config: string;
  readonly RepoTags: readonly string[] | null;
  readonly Layers: readonly string[];
}

/** Pushes an image of an unpacked archive of `docker save`: its only one, or the one with that tag. Gives its digest. */
export async function pushDockerArchive(
  writer: RegistryWriter,
  folder: string,
  { repository, tag }: { readonly repository: string; readonly tag: string },
): Promise<string> {
  const images = parse<readonly SavedImage[]>(await readBounded(join(folder, "manifest.json")), "manifest.json");
  const tagged = images.filter(({ RepoTags }) => RepoTags?.some((name) => name.endsWith(`:${tag}`)));
  const [image, ...others] = tagged.length === 1 ? tagged : images;
  if (image === undefined || others.length > 0) {
    const names = images.flatMap(({ RepoTags, Config }) => RepoTags ?? [Config]);
    throw new RegistryRefusal(
      400,
      `the archive has ${images.length} images (${names.join(", ").slice(0, 500)}); name one of them as the tag`,
    );
  }
  const config = await readBounded(placeIn(folder, image.Config));
  const ids = parse<{ rootfs?: { diff_ids?: readonly string[] } }>(config, image.Config).rootfs?.diff_ids ?? [];
  if (ids.length !== image.Layers.length) {
    throw new RegistryRefusal(
      400,
      `the config of the image names ${ids.length} layers; there are ${image.Layers.length}`,
    );
  }
  const layers: Descriptor[] = [];
  for (const [index, name] of image.Layers.entries()) {
    layers.push(await pushLayer(writer, repository, placeIn(folder, name), ids[index] ?? ""));
  }
  const described = { mediaType: CONFIG, digest: digestOf(config), size: config.length };
  await writer.pushBlob(repository, { ...described, open: () => config });
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, config: described, layers }));
  await writer.pushManifest(repository, tag, MANIFEST, manifest);
  return digestOf(manifest);
}

/** Such archives hold layers as they are, or compressed; registries keep them compressed. */
async function pushLayer(writer: RegistryWriter, repository: string, path: string, id: string): Promise<Descriptor> {
  const packed = `${path}.packed`;
  const [plain, compressed] = [createHash("sha256"), createHash("sha256")];
  try {
    const unpack = await decompressorOf(path);
    const source = createReadStream(path);
    const target = createWriteStream(packed);
    await (unpack === undefined
      ? pipeline(source, watch(plain), createGzip(), watch(compressed), target)
      : pipeline(source, unpack, watch(plain), createGzip(), watch(compressed), target));
    if (`sha256:${plain.digest("hex")}` !== id) {
      throw new RegistryRefusal(400, `a layer of the archive is damaged: it is not ${id.slice(0, 100)}`);
    }
    const layer = { mediaType: LAYER, digest: `sha256:${compressed.digest("hex")}`, size: (await stat(packed)).size };
    await writer.pushBlob(repository, { ...layer, open: () => createReadStream(packed) });
    return layer;
  } finally {
    await rm(packed, { force: true });
  }
}

interface SaveOptions {
  readonly repository: string;
  /** Of an image, or of an index, of which it is the image for this machine. */
  readonly digest: string;
  /** Of the archive; it is there whole or not at all. */
  readonly path: string;
  /** What the image is called when it is loaded: `host/name:tag`. */
  readonly name: string;
}

/** Saves an image as an archive that `docker load` and `podman load` take. @throws {RegistryRefusal} */
export async function saveDockerArchive(
  client: RegistryClient,
  { repository, digest, path, name }: SaveOptions,
): Promise<string> {
  const { document, digest: found } = await findImage(client, repository, digest, undefined);
  const { config, layers = [] } = document;
  if (config === undefined) {
    throw new RegistryRefusal(400, `${repository}@${found} is not an image: it has no config.`);
  }
  const folder = await mkdtemp(join(dirname(path), "image-"));
  try {
    const chunks: Buffer[] = [];
    const size = Math.min(config.size, MAX_DOCUMENT_BYTES);
    for await (const chunk of await client.readBlob(repository, config.digest, { size })) {
      chunks.push(chunk);
    }
    const about = Buffer.concat(chunks);
    const ids = parse<{ rootfs?: { diff_ids?: readonly string[] } }>(about, "the config").rootfs?.diff_ids ?? [];
    if (ids.length !== layers.length || ids.some((id) => !/^sha256:[a-f0-9]{64}$/.test(id))) {
      throw new RegistryRefusal(400, `${repository}@${found} is not an image: its config names no layers.`);
    }
    const files: string[] = [];
    for (const [index, layer] of layers.entries()) {
      const id = ids[index] ?? "";
      const file = `${id.slice(id.indexOf(":") + 1)}.tar`;
      const packed = join(folder, `${file}.packed`);
      await pipeline(await client.readBlob(repository, layer.digest, layer), createWriteStream(packed));
      const unpack = await decompressorOf(packed);
      const [plain, target] = [createHash("sha256"), createWriteStream(join(folder, file))];
      const source = createReadStream(packed);
      await (unpack === undefined
        ? pipeline(source, watch(plain), target)
        : pipeline(source, unpack, watch(plain), target));
      await rm(packed);
      if (`sha256:${plain.digest("hex")}` !== id) {
        throw new RegistryRefusal(502, `The layer ${layer.digest} is not ${id}, as the config says.`);
      }
      files.push(file);
    }
    const own = `${digestOf(about).slice("sha256:".length)}.json`;
    await writeFile(join(folder, own), about);
    await writeFile(join(folder, "manifest.json"), JSON.stringify([{ Config: own, RepoTags: [name], Layers: files }]));
    const archive = new ArchiveWriter();
    const written = pipeline(archive.stream, createWriteStream(`${folder}.tar`));
    await Promise.all([archive.addFolder(folder).finally(() => archive.end()), written]);
    await rename(`${folder}.tar`, path);
    return found;
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(`${folder}.tar`, { force: true });
  }
}

const watch = (hash: ReturnType<typeof createHash>) =>
  new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk);
      done(null, chunk);
    },
  });

/** By the first bytes; undefined for a plain tar file. */
async function decompressorOf(path: string) {
  let head = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { end: 3 })) {
    head = Buffer.concat([head, chunk as Buffer]);
  }
  return head.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]))
    ? createGunzip()
    : head.equals(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]))
      ? createZstdDecompress()
      : undefined;
}

/** @throws {RegistryRefusal} for a name that leads out of the archive */
function placeIn(folder: string, name: string): string {
  const path = resolve(folder, typeof name === "string" ? name : "..");
  const inside = relative(folder, path);
  if (inside === "" || inside.startsWith("..")) {
    throw new RegistryRefusal(400, `the archive names ${JSON.stringify(name)}, which is not in it`);
  }
  return path;
}

async function readBounded(path: string): Promise<Buffer> {
  const { size } = await stat(path);
  if (size > MAX_DOCUMENT_BYTES) {
    throw new RegistryRefusal(400, `${path} has more than ${MAX_DOCUMENT_BYTES} bytes, which is too much for JSON`);
  }
  return readFile(path);
}

function parse<T>(content: Buffer, name: string): T {
  try {
    return JSON.parse(content.toString("utf8")) as T;
  } catch (error) {
    throw new RegistryRefusal(400, `${name} is not JSON: ${(error as Error).message}`);
  }
}
