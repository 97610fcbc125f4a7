import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import { RegistryRefusal } from "@swath/oci";
import { type Claim, type Loop, startLoop } from "@swath/work";

import { RegistryError } from "../errors.ts";
import { parseManifest } from "../protocol/manifest.ts";
import { projectOf } from "../protocol/names.ts";
import {
  type ArrivingManifest,
  RENEW_MS,
  addArriving,
  arrivalQueue,
  deleteArriving,
  findArriving,
  findCachedTag,
  listArriving,
  listCachedTags,
  noteCachedTag,
  postponeArrival,
} from "../store/cache.ts";
import type { RegistryDatabase } from "../store/database.ts";
import { findLinkedBlob } from "../store/links.ts";
import { type StoredManifest, readManifest } from "../store/manifests.ts";
import { findProject, lockProject } from "../store/projects.ts";
import { putManifest } from "../store/put-manifest.ts";
import { ensureRepository } from "../store/repositories.ts";
import { type Upstream, findUpstream } from "../store/upstreams.ts";
import type { Uploads } from "../uploads/uploads.ts";
import { CACHE_HOLDER, takeIn } from "./arrivals.ts";
import { type OpenUpstream, type Upstreams, explain } from "./upstreams.ts";

export interface CacheOptions {
  readonly database: RegistryDatabase;
  readonly uploads: Uploads;
  readonly upstreams: Upstreams;
  /** Seconds that a tag is believed without asking its upstream. */
  readonly freshSeconds: number;
  readonly onError: (error: unknown) => void;
}

/** Projects that are caches of other registries: what they lack is fetched when it is asked for. */
export interface Cache {
  /**
   * The manifest, as it is at the upstream; as it was there when that does not answer. `local` is what the project has.
   * @throws {RegistryError} MANIFEST_UNKNOWN, TOOMANYREQUESTS, UNAVAILABLE
   */
  readonly readManifest: (
    repository: string,
    reference: string,
    local: StoredManifest | undefined,
  ) => Promise<StoredManifest | undefined>;
  /** Size of a blob that the project lacks; undefined where there is none. */
  readonly findBlob: (repository: string, digest: string) => Promise<number | undefined>;
  /** Sends such a blob and keeps it; false where there is none, or it has come meanwhile. */
  readonly sendBlob: (repository: string, digest: string, response: ServerResponse) => Promise<boolean>;
  /** Fetches what clients did not want of images that they have begun with. */
  readonly startFilling: (databaseUrl: string) => Promise<Loop>;
}

interface Place {
  readonly upstream: Upstream;
  readonly remote: OpenUpstream;
  /** Of the repository, there. */
  readonly name: string;
}

/** How long a client waits for another one that fetches the same. */
const WAIT_MS = 30_000;
const DOWN_MS = 10_000;
const NOT_THERE = new Set([400, 401, 403, 404]);

export function createCache(options: CacheOptions): Cache {
  const { database, upstreams } = options;
  const asking = new Map<string, Promise<StoredManifest | undefined>>();
  const fetching = new Map<string, Promise<void>>();

  const findPlace = async (repository: string): Promise<Place | undefined> => {
    const project = await findProject(database, projectOf(repository));
    const upstream = project?.upstreamId === undefined ? undefined : await findUpstream(database, project.upstreamId);
    if (project === undefined || upstream === undefined) {
      return undefined;
    }
    const remote = upstreams.open(upstream);
    return { upstream, remote, name: remote.toName(repository.slice(project.name.length + 1)) };
  };
  /** Fetches a blob once, for all who want it. */
  const fetchBlob = (repository: string, digest: string, place: Place, response?: ServerResponse): Promise<void> => {
    const key = `${repository}@${digest}`;
    const work = (async () => {
      const arriving = await place.remote.client.openBlob(place.name, digest);
      if (response !== undefined) {
        startResponse(response, digest, arriving.size);
      }
      await takeIn(options.uploads, { repository, digest }, arriving, response);
      await completeArrivals(options, repository);
    })().finally(() => fetching.delete(key));
    fetching.set(key, work);
    return work;
  };
  const fillOne = async ({ repository, digest, content, mediaType }: ArrivingManifest) => {
    const place = await findPlace(repository);
    if (place !== undefined && !isPaused(place.upstream)) {
      for (const blob of parseManifest(content, mediaType).blobs) {
        if ((await findLinkedBlob(database, repository, blob)) === undefined) {
          await (fetching.get(`${repository}@${blob}`) ?? fetchBlob(repository, blob, place));
        }
      }
      await completeArrivals(options, repository);
    }
    return digest;
  };

  return {
    readManifest: async (repository, reference, local) => {
      const place = await findPlace(repository);
      if (place === undefined) {
        return local;
      }
      const key = `${repository} ${reference}`;
      const found =
        asking.get(key) ??
        (reference.includes(":")
          ? readByDigest(options, place, repository, reference)
          : readByTag(options, place, { repository, tag: reference, local })
        ).finally(() => asking.delete(key));
      asking.set(key, found);
      return found;
    },
    findBlob: async (repository, digest) => {
      for (const { content, mediaType } of await listArriving(database, repository)) {
        const size = parseManifest(content, mediaType).sizes.get(digest);
        if (size !== undefined) {
          return size;
        }
      }
      return undefined;
    },
    sendBlob: async (repository, digest, response) => {
      const place = await findPlace(repository);
      if (place === undefined) {
        return false;
      }
      const others = fetching.get(`${repository}@${digest}`);
      if (others !== undefined) {
        await Promise.race([others.catch(() => undefined), sleep(WAIT_MS, undefined, { ref: false })]);
        if ((await findLinkedBlob(database, repository, digest)) !== undefined) {
          return false;
        }
      }
      try {
        await fetchBlob(repository, digest, place, response);
        return true;
      } catch (error) {
        const said = await toError(options, place, error);
        if (said.code === "MANIFEST_UNKNOWN" && !response.headersSent) {
          return false;
        }
        throw said;
      }
    },
    startFilling: (databaseUrl) =>
      startLoop<Claim<ArrivingManifest>>({
        concurrency: 1,
        listen: { url: databaseUrl, channel: "registry_arrivals" },
        claim: ({ limit }) => arrivalQueue.claim(database.pool, limit),
        untilDue: () => arrivalQueue.untilDue(database.pool),
        renewMs: RENEW_MS,
        run: async (claim) => {
          await fillOne(claim.row).catch(options.onError);
          await postponeArrival(claim);
        },
        onError: options.onError,
      }),
  };
}

function startResponse(response: ServerResponse, digest: string, size: number): void {
  response.writeHead(200, {
    "content-type": "application/octet-stream",
    "content-length": size,
    "docker-content-digest": digest,
    etag: `"${digest}"`,
    "cache-control": "private, max-age=31536000",
  });
}

/** It did not answer a moment ago; nobody waits for it again who has something. */
const isDown = ({ failedAt }: Upstream): boolean => failedAt !== undefined && failedAt.getTime() > Date.now() - DOWN_MS;

const isPaused = ({ pausedUntil }: Upstream): boolean =>
  pausedUntil !== undefined && pausedUntil.getTime() > Date.now();

async function readByDigest(
  options: CacheOptions,
  place: Place,
  repository: string,
  digest: string,
): Promise<StoredManifest> {
  const known = await findKnown(options, repository, digest);
  if (known !== undefined) {
    return known;
  }
  refusePaused(place.upstream);
  return fetchManifest(options, place, { repository, reference: digest, tags: [] }).catch(async (error: unknown) => {
    throw await toError(options, place, error);
  });
}

interface TagTarget {
  readonly repository: string;
  readonly tag: string;
  readonly local: StoredManifest | undefined;
}

async function readByTag(
  options: CacheOptions,
  place: Place,
  { repository, tag, local }: TagTarget,
): Promise<StoredManifest> {
  const { database, freshSeconds } = options;
  const noted = await findCachedTag(database, repository, { tag, freshSeconds });
  if (noted?.isFresh === true) {
    const known = await findKnown(options, repository, noted.digest);
    if (known !== undefined) {
      return known;
    }
  }
  try {
    refusePaused(place.upstream);
    if (local !== undefined && isDown(place.upstream)) {
      return local;
    }
    // A question that does not count where pulls are counted.
    const digest = await place.remote.client.findManifest(place.name, tag);
    const known = digest === undefined ? undefined : await findKnown(options, repository, digest);
    if (known === undefined || known.digest !== local?.digest) {
      return await fetchManifest(options, place, { repository, reference: digest ?? tag, tags: [tag], known });
    }
    await noteCachedTag(database, repository, tag, known.digest);
    if (place.upstream.failure !== undefined) {
      await options.upstreams.noteResponse(place.upstream);
    }
    return known;
  } catch (error) {
    const said = await toError(options, place, error);
    if (local !== undefined && said.code !== "MANIFEST_UNKNOWN" && said.code !== "MANIFEST_INVALID") {
      // It does not answer, or not now: what it was is better than nothing.
      return local;
    }
    throw said;
  }
}

async function findKnown({ database }: CacheOptions, repository: string, digest: string) {
  return (await readManifest(database, repository, digest)) ?? (await findArriving(database, repository, digest));
}

interface FetchTarget {
  readonly repository: string;
  readonly reference: string;
  readonly tags: readonly string[];
  /** The tag has moved to what is there. */
  readonly known?: StoredManifest | undefined;
}

/** Fetches a manifest and keeps it: complete at once, or as arriving. */
async function fetchManifest(
  options: CacheOptions,
  { remote, name }: Place,
  { repository, reference, tags, known }: FetchTarget,
): Promise<StoredManifest> {
  const { database } = options;
  const { digest, mediaType, content } = known ?? (await remote.client.readManifest(name, reference));
  const parsed = parseManifest(content, mediaType);
  const project = projectOf(repository);
  const manifest = { project, repository, digest, content, parsed, tags, actor: "cache", holder: CACHE_HOLDER };
  try {
    await database.transact((tx) => putManifest(tx, manifest));
  } catch (error) {
    if (!(error instanceof RegistryError) || !["MANIFEST_BLOB_UNKNOWN", "DENIED"].includes(error.code)) {
      throw error;
    }
    if (error.code === "MANIFEST_BLOB_UNKNOWN") {
      await database.transact(async (tx) => {
        const repositoryId = await ensureRepository(tx, await lockProject(tx, project), repository);
        await addArriving(tx, repositoryId, { repository, digest, mediaType, content });
      });
    }
    // Without room, or with a tag that a rule holds, it is passed on and not kept.
  }
  for (const tag of tags) {
    await noteCachedTag(database, repository, tag, digest);
  }
  return { digest, mediaType, content, isCached: true };
}

/** Makes manifests of those whose content is all there. */
async function completeArrivals({ database, onError }: CacheOptions, repository: string): Promise<void> {
  for (const { digest, content, mediaType } of await listArriving(database, repository)) {
    const parsed = parseManifest(content, mediaType);
    const [missing] = await database.query(
      `select from unnest($2::text[]) d(digest) where not exists (
         select from repository_blob l join repository r on r.id = l.repository_id
         where r.name = $1 and l.digest = d.digest collate "C") limit 1`,
      [repository, parsed.blobs],
    );
    if (missing === undefined) {
      const tags = await listCachedTags(database, repository, digest);
      const project = projectOf(repository);
      const manifest = { project, repository, digest, content, parsed, tags, actor: "cache", holder: CACHE_HOLDER };
      await database
        .transact(async (tx) => {
          await lockProject(tx, project);
          if (await deleteArriving(tx, repository, digest)) {
            await putManifest(tx, manifest);
          }
        })
        .catch(onError);
    }
  }
}

/** @throws {RegistryError} TOOMANYREQUESTS while an upstream wants to be left alone */
function refusePaused({ name, pausedUntil }: Upstream): void {
  const seconds = Math.ceil(((pausedUntil?.getTime() ?? 0) - Date.now()) / 1000);
  if (seconds > 0) {
    throw new RegistryError("TOOMANYREQUESTS", `The registry ${name} allows no more pulls for ${seconds} seconds.`, {
      headers: { "retry-after": String(seconds) },
    });
  }
}

/** What clients are told of a failure at an upstream; noted there where it did not answer. */
async function toError({ upstreams, onError }: CacheOptions, { upstream, name }: Place, error: unknown) {
  if (error instanceof RegistryError) {
    return error;
  }
  const said = explain(error);
  const status = error instanceof RegistryRefusal ? error.status : undefined;
  if (status !== undefined && NOT_THERE.has(status)) {
    return new RegistryError("MANIFEST_UNKNOWN", `The registry ${upstream.name} does not give ${name}: ${said}`, {
      cause: error,
    });
  }
  await upstreams.noteFailure(upstream, error).catch(onError);
  return status === 429
    ? new RegistryError("TOOMANYREQUESTS", `The registry ${upstream.name} allows no more pulls for now.`, {
        headers: { "retry-after": "60" },
        cause: error,
      })
    : new RegistryError("UNAVAILABLE", `The registry ${upstream.name} does not answer: ${said}`, {
        headers: { "retry-after": "10" },
        cause: error,
      });
}
