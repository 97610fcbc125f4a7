import { once } from "node:events";
import { PassThrough, type Writable } from "node:stream";

import { RegistryError } from "../errors.ts";
import { parseDigest } from "../protocol/digest.ts";
import { projectOf } from "../protocol/names.ts";
import type { Uploads } from "../uploads/uploads.ts";

/** Content as a registry of others sends it; it fails at its end where it is not what its digest says. */
export interface Arriving {
  readonly size: number;
  readonly content: AsyncIterable<Buffer>;
}

/** Who relies on content that comes for nobody's push. */
export const CACHE_HOLDER = { token: "cache", subject: "cache" };
const ACTOR = "cache";

/**
 * Stores a blob that comes from elsewhere, and sends it on to a client at the same time. The client gets the last piece only when all of
 * it was right; a client that goes away ends nothing, and neither does a store that has no room.
 * @throws what the content throws
 */
export async function takeIn(
  uploads: Uploads,
  { repository, digest }: { readonly repository: string; readonly digest: string },
  { size, content }: Arriving,
  client?: Writable,
): Promise<void> {
  const store = await openStore(uploads, repository, digest).catch((error: unknown) => {
    // Without room it is passed on and not kept; without a client there is nothing to pass on to.
    if (client !== undefined && error instanceof RegistryError && error.code === "DENIED") {
      return undefined;
    }
    throw error;
  });
  let held: Buffer | undefined;
  let received = 0;
  try {
    for await (const chunk of content) {
      received += chunk.length;
      await store?.write(chunk);
      if (client !== undefined) {
        if (held !== undefined) {
          await send(client, held);
        }
        held = chunk;
      }
      const isKept = store !== undefined && !store.hasFailed();
      if (!isKept && (client === undefined || client.destroyed)) {
        break;
      }
    }
  } catch (error) {
    await store?.abandon();
    client?.destroy();
    throw error;
  }
  const stored = store?.finish(received === size);
  if (client !== undefined) {
    if (held !== undefined) {
      await send(client, held);
    }
    client.end();
  }
  await stored;
}

async function openStore(uploads: Uploads, repository: string, digest: string) {
  const parsed = parseDigest(digest);
  const target = { repository, actor: ACTOR, project: projectOf(repository), algorithm: parsed.algorithm };
  const id = await uploads.start(target);
  const body = new PassThrough();
  let hasFailed = false;
  const storing = uploads.finish({ repository, id, digest: parsed, holder: CACHE_HOLDER }, body, undefined);
  const settled = storing.catch(() => {
    hasFailed = true;
    body.destroy();
  });
  // The upload says it.
  body.on("error", () => undefined);
  const abandon = async () => {
    body.destroy();
    await settled;
    // Already gone where its digest was wrong.
    await uploads.cancel({ repository, id }).catch(() => undefined);
  };
  return {
    hasFailed: () => hasFailed,
    write: (chunk: Buffer) => (hasFailed ? undefined : send(body, chunk)),
    abandon,
    /** @throws why it could not be stored */
    finish: async (isWhole: boolean) => {
      if (isWhole) {
        body.end();
        await storing;
      } else {
        await abandon();
      }
    },
  };
}

/** Writes a piece and waits for room; to who is gone nothing is written. */
async function send(stream: Writable, chunk: Buffer): Promise<void> {
  if (!stream.destroyed && !stream.write(chunk)) {
    const controller = new AbortController();
    const { signal } = controller;
    await Promise.race([once(stream, "drain", { signal }), once(stream, "close", { signal })]).catch(() => undefined);
    controller.abort();
  }
}
