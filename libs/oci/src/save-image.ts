import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";

import { ArchiveWriter } from "@swath/archive";

import { type Descriptor, type ManifestDocument, isIndexType } from "./manifest.ts";
import { type ReadManifest, type RegistryClient, RegistryRefusal } from "./registry-client.ts";

interface SaveOptions {
  readonly repository: string;
  /** Of an image or an index. */
  readonly digest: string;
  /** Of the archive; it is there whole or not at all. */
  readonly path: string;
  /** `own`: of an index the image for this machine; `all`: everything that it names. */
  readonly platforms: "own" | "all";
  /** Tag that the archive has for it. */
  readonly tag?: string | undefined;
  readonly signal?: AbortSignal;
}

/** Indexes in indexes. */
const MAX_DEPTH = 3;
const MAX_MANIFESTS = 1000;
const ARCHITECTURES: ReadonlyMap<string, string> = new Map(Object.entries<string>({ x64: "amd64", arm64: "arm64" }));

/** Saves an image or an index as an OCI archive, which container engines load. @throws {RegistryRefusal} */
export async function saveImage(
  client: RegistryClient,
  { repository, digest, path, platforms, tag, signal }: SaveOptions,
): Promise<void> {
  const [root, ...others] =
    platforms === "own"
      ? [await findImage(client, repository, digest, signal)]
      : await findAll(client, repository, digest, signal);
  const manifests = [root, ...others];
  const folder = await mkdtemp(join(dirname(path), "image-"));
  try {
    const blobs = manifests.flatMap(({ document: { config, layers = [] } }) => [
      ...(config ? [config] : []),
      ...layers,
    ]);
    for (const blob of new Map(blobs.map((each) => [each.digest, each])).values()) {
      const target = await placeOf(folder, blob.digest);
      await pipeline(
        await client.readBlob(repository, blob.digest, { size: blob.size, signal }),
        createWriteStream(target),
      );
    }
    for (const manifest of manifests) {
      await writeFile(await placeOf(folder, manifest.digest), manifest.content);
    }
    await writeFile(join(folder, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
    const descriptor = {
      mediaType: root.mediaType,
      digest: root.digest,
      size: root.content.length,
      ...(tag !== undefined && { annotations: { "org.opencontainers.image.ref.name": tag } }),
    };
    const index = { schemaVersion: 2, manifests: [descriptor] };
    await writeFile(join(folder, "index.json"), JSON.stringify(index));
    const archive = new ArchiveWriter();
    const written = pipeline(archive.stream, createWriteStream(`${folder}.tar`), { ...(signal && { signal }) });
    await Promise.all([archive.addFolder(folder).finally(() => archive.end()), written]);
    await rename(`${folder}.tar`, path);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(`${folder}.tar`, { force: true });
  }
}

/** The manifest and all below it, itself first. */
async function findAll(
  client: RegistryClient,
  repository: string,
  digest: string,
  signal: AbortSignal | undefined,
): Promise<readonly [ReadManifest, ...ReadManifest[]]> {
  const root = await client.readManifest(repository, digest, signal);
  const found = new Map([[root.digest, root]]);
  for (const { document } of found.values()) {
    for (const child of document.manifests ?? []) {
      if (found.size >= MAX_MANIFESTS) {
        throw new RegistryRefusal(502, `${repository}@${digest} has more than ${MAX_MANIFESTS} manifests.`);
      }
      if (!found.has(child.digest)) {
        found.set(child.digest, await client.readManifest(repository, child.digest, signal));
      }
    }
  }
  found.delete(root.digest);
  return [root, ...found.values()];
}

async function placeOf(folder: string, digest: string): Promise<string> {
  const place = placeInLayout(folder, digest);
  await mkdir(dirname(place), { recursive: true });
  return place;
}

/** The image itself, or that of an index for this machine. */
export async function findImage(
  client: RegistryClient,
  repository: string,
  digest: string,
  signal: AbortSignal | undefined,
  depth = 0,
): Promise<ReadManifest> {
  const read = await client.readManifest(repository, digest, signal);
  if (!isIndexType(read.mediaType)) {
    return read;
  }
  const chosen = choosePlatform(read.document);
  if (chosen === undefined || depth === MAX_DEPTH) {
    throw new RegistryRefusal(404, `${repository}@${digest} has no image for ${ownPlatform()}.`);
  }
  return findImage(client, repository, chosen.digest, signal, depth + 1);
}

/** What images call the kind of this machine's processor. */
export const ownArchitecture = (): string => ARCHITECTURES.get(process.arch) ?? process.arch;

const ownPlatform = (): string => `linux/${ownArchitecture()}`;

/** The entry of an index for this machine. */
function choosePlatform({ manifests = [] }: ManifestDocument): Descriptor | undefined {
  const own = ownPlatform();
  return manifests.find(({ platform }) => `${platform?.os}/${platform?.architecture}` === own);
}

/** Where a layout has the content of a digest. @throws {RegistryRefusal} for a text that is no digest */
export function placeInLayout(folder: string, digest: string): string {
  const [algorithm = "", hex = ""] = digest.split(":");
  if (!/^sha(?:256|512)$/.test(algorithm) || !/^[a-f0-9]{64,128}$/.test(hex)) {
    throw new RegistryRefusal(502, `The image names ${digest.slice(0, 100)}, which is no digest.`);
  }
  return join(folder, "blobs", algorithm, hex);
}
