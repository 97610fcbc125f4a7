import { createBatch } from "./batch.ts";
import type { Sql } from "./database.ts";
import {
  type FoundManifest,
  type ManifestKey,
  type StoredManifest,
  readManifestContent,
  resolveManifests,
} from "./manifests.ts";

/** Reads manifests for clients: every request sees what was committed before it came. */
export interface ManifestReader {
  /** What the repository has, with the project that says who may pull it. */
  readonly find: (key: ManifestKey) => Promise<FoundManifest | undefined>;
  /** Its content; undefined when it has just gone. */
  readonly read: (repository: string, found: FoundManifest) => Promise<StoredManifest | undefined>;
}

const MAX_CACHED_BYTES = 32 << 20;

/**
 * Looks up the requests that come while a query is under way together in the next one; a query begins after all of its requests
 * have come. Content never changes under its digest, so it is remembered; whether a repository has it is asked each time.
 */
export function createManifestReader(sql: Sql): ManifestReader {
  const contents = new Map<string, Buffer>();
  let cachedBytes = 0;

  const resolveKey = createBatch((keys: readonly ManifestKey[]) => resolveManifests(sql, keys));
  const remember = (digest: string, content: Buffer) => {
    contents.delete(digest);
    contents.set(digest, content);
    cachedBytes += content.length;
    for (const [oldest, { length }] of contents) {
      if (cachedBytes <= MAX_CACHED_BYTES) {
        break;
      }
      contents.delete(oldest);
      cachedBytes -= length;
    }
  };

  return {
    find: resolveKey,
    read: async (repository, found) => {
      let content = contents.get(found.digest);
      if (content === undefined) {
        content = await readManifestContent(sql, repository, found.digest);
        if (content === undefined) {
          return undefined;
        }
        if (!contents.has(found.digest)) {
          remember(found.digest, content);
        }
      }
      return { digest: found.digest, mediaType: found.mediaType, isCached: found.isCached, content };
    },
  };
}
