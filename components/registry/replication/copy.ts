import { type ManifestDocument, type RegistryClient, RegistryRefusal, type RegistryWriter } from "@swath/oci";

import type { BlobStore } from "../blobs/blob-store.ts";
import { parseManifest } from "../protocol/manifest.ts";
import { projectOf } from "../protocol/names.ts";
import type { RegistryDatabase } from "../store/database.ts";
import { findLinkedBlob } from "../store/links.ts";
import { listReferrers, readManifest } from "../store/manifests.ts";
import { putManifest } from "../store/put-manifest.ts";
import { CACHE_HOLDER, takeIn } from "../upstreams/arrivals.ts";
import type { OpenUpstream } from "../upstreams/upstreams.ts";
import type { Uploads } from "../uploads/uploads.ts";

export interface CopyDeps {
  readonly database: RegistryDatabase;
  readonly blobs: BlobStore;
  readonly uploads: Uploads;
}

export interface Copy {
  /** Names of the repository at both ends. */
  readonly source: string;
  readonly target: string;
  readonly tag: string;
  readonly overrides: boolean;
  readonly actor: string;
  /** @throws when the copying is to end */
  readonly check: () => Promise<void>;
}

export interface CopyResult {
  readonly state: "succeeded" | "skipped";
  /** What went over the wire. */
  readonly bytes: number;
  readonly said: string | undefined;
}

const MAX_MANIFESTS = 2000;
const MAX_REFERRERS = 100;
const THERE: CopyResult = { state: "skipped", bytes: 0, said: "it is there already" };
const OTHER: CopyResult = { state: "skipped", bytes: 0, said: "the tag is another artifact there, and is not moved" };

/**
 * Copies a tag from another registry, with all that its index names and what refers to it. Content is fetched even where another project
 * has it: who names a digest need not have what is behind it.
 */
export async function copyIn(deps: CopyDeps, { client }: OpenUpstream, copy: Copy): Promise<CopyResult> {
  const { database } = deps;
  const { source, target, tag, overrides } = copy;
  const digest = (await client.findManifest(source, tag)) ?? (await client.readManifest(source, tag)).digest;
  const [known] = await database.query<{ digest: string }>(
    "select t.digest from tag t join repository r on r.id = t.repository_id where r.name = $1 and t.name = $2",
    [target, tag],
  );
  if (known !== undefined && (known.digest === digest || !overrides)) {
    return known.digest === digest ? THERE : OTHER;
  }
  const seen = new Set<string>();
  let bytes = await bringIn(deps, client, copy, { reference: digest, tags: [tag], seen });
  for (const referrer of await listRemoteReferrers(client, source, digest)) {
    bytes += await bringIn(deps, client, copy, { reference: referrer, tags: [], seen });
  }
  return { state: "succeeded", bytes, said: undefined };
}

interface Part {
  readonly reference: string;
  readonly tags: readonly string[];
  readonly seen: Set<string>;
}

/** What a manifest refers to comes first. */
async function bringIn(
  deps: CopyDeps,
  client: RegistryClient,
  copy: Copy,
  { reference, tags, seen }: Part,
): Promise<number> {
  const { database, uploads } = deps;
  const { source, target, actor } = copy;
  enter(seen, reference);
  await copy.check();
  const { digest, mediaType, content } = await client.readManifest(source, reference);
  const parsed = parseManifest(content, mediaType);
  let bytes = content.length;
  for (const child of parsed.children) {
    if (!seen.has(child)) {
      bytes += await bringIn(deps, client, copy, { reference: child, tags: [], seen });
    }
  }
  for (const blob of parsed.blobs) {
    if ((await findLinkedBlob(database, target, blob)) === undefined) {
      await copy.check();
      const arriving = await client.openBlob(source, blob);
      await takeIn(uploads, { repository: target, digest: blob }, arriving);
      bytes += arriving.size;
    }
  }
  const project = projectOf(target);
  const manifest = { project, repository: target, digest, content, parsed, tags, actor, holder: CACHE_HOLDER };
  await database.transact((tx) => putManifest(tx, manifest));
  return bytes;
}

async function listRemoteReferrers(client: RegistryClient, source: string, digest: string): Promise<readonly string[]> {
  try {
    return (await client.readReferrers(source, digest)).slice(0, MAX_REFERRERS);
  } catch (error) {
    // Registries of before OCI 1.1 have no such list.
    if (error instanceof RegistryRefusal && error.status < 500) {
      return [];
    }
    throw error;
  }
}

/** Copies a tag to another registry, with all that its index names and what refers to it. */
export async function copyOut(deps: CopyDeps, { client, writer }: OpenUpstream, copy: Copy): Promise<CopyResult> {
  const { database } = deps;
  const { source, target, tag, overrides } = copy;
  const [own] = await database.query<{ digest: string }>(
    "select t.digest from tag t join repository r on r.id = t.repository_id where r.name = $1 and t.name = $2",
    [source, tag],
  );
  if (own === undefined) {
    return { state: "skipped", bytes: 0, said: "it was deleted meanwhile" };
  }
  const there = await client.findManifest(target, tag).catch((error: unknown) => {
    if (error instanceof RegistryRefusal && [401, 403, 404].includes(error.status)) {
      return undefined;
    }
    throw error;
  });
  if (there !== undefined && (there === own.digest || !overrides)) {
    return there === own.digest ? THERE : OTHER;
  }
  const seen = new Set<string>();
  let bytes = await bringOut(deps, writer, copy, { reference: own.digest, tags: [tag], seen });
  const referrers = await listReferrers(database, source, {
    subject: own.digest,
    artifactType: undefined,
    last: "",
    n: MAX_REFERRERS,
  });
  for (const { digest } of referrers) {
    bytes += await bringOut(deps, writer, copy, { reference: digest, tags: [], seen });
  }
  return { state: "succeeded", bytes, said: undefined };
}

async function bringOut(
  deps: CopyDeps,
  writer: RegistryWriter,
  copy: Copy,
  { reference, tags, seen }: Part,
): Promise<number> {
  const { database, blobs } = deps;
  const { source, target } = copy;
  enter(seen, reference);
  await copy.check();
  const manifest = await readManifest(database, source, reference);
  if (manifest === undefined) {
    throw new RegistryRefusal(404, `${source}@${reference} is not there: a sparse index, or deleted meanwhile.`);
  }
  const { manifests = [], config, layers = [] } = JSON.parse(manifest.content.toString("utf8")) as ManifestDocument;
  let bytes = manifest.content.length;
  for (const { digest } of manifests) {
    if (!seen.has(digest)) {
      bytes += await bringOut(deps, writer, copy, { reference: digest, tags: [], seen });
    }
  }
  for (const { digest } of [...(config ? [config] : []), ...layers]) {
    const blob = await findLinkedBlob(database, source, digest);
    // Layers that clients fetch from elsewhere are not here.
    if (blob !== undefined) {
      await copy.check();
      const open = () =>
        blob.size === 0 ? Buffer.alloc(0) : blobs.read(blob.storageId, { start: 0, end: blob.size - 1 });
      bytes += (await writer.pushBlob(target, { digest, size: blob.size, open })) ? blob.size : 0;
    }
  }
  await writer.pushManifest(target, tags[0] ?? reference, manifest.mediaType, manifest.content);
  return bytes;
}

function enter(seen: Set<string>, reference: string): void {
  seen.add(reference);
  if (seen.size > MAX_MANIFESTS) {
    throw new RegistryRefusal(400, `It names more than ${MAX_MANIFESTS} manifests.`);
  }
}
