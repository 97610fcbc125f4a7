import { setTimeout as sleep } from "node:timers/promises";

import { type Dispatcher, type Response, fetch } from "undici";

import { StorageRefusal } from "../bucket-storage.ts";

const TIMEOUT_MS = 60_000;
const PAGE = 1000;
const CONCURRENCY = 8;
/** Listings that begin with the same object, before the next attempt of the operator goes on. */
const MAX_SAME_LISTINGS = 5;
const LISTING_DELAY_MS = 200;

/** One project's account in Swift, with a token of that project. */
export interface Swift {
  /** Makes a container, or leaves the one that is there. `metadata` is kept with it. */
  readonly putContainer: (name: string, headers: Readonly<Record<string, string>>) => Promise<void>;
  readonly changeContainer: (name: string, headers: Readonly<Record<string, string>>) => Promise<void>;
  /** Deletes a container with all objects, and the segments of large ones. */
  readonly deleteContainer: (name: string) => Promise<void>;
}

export function createSwift(
  { url, token, signal }: { readonly url: string; readonly token: string; readonly signal: AbortSignal },
  dispatcher?: Dispatcher,
): Swift {
  const send = async (method: string, path: string, headers: Readonly<Record<string, string>> = {}) => {
    try {
      return await fetch(`${url}/${path}`, {
        method,
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        ...(dispatcher && { dispatcher }),
        headers: { "x-auth-token": token, accept: "application/json", ...headers },
      });
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error);
      throw new Error(`the cloud's object storage ${url} cannot be reached: ${cause.message}`, { cause: error });
    }
  };
  const expect = async (response: Response, what: string, ...also: readonly number[]): Promise<void> => {
    const text = (await response.text())
      .replaceAll(/<[^>]*>|\s+/g, " ")
      .trim()
      .slice(0, 200);
    if (response.ok || also.includes(response.status)) {
      return;
    }
    const message = `the cloud's object storage answers ${response.status} to ${what}: ${text}`;
    throw response.status === 429 || response.status >= 500
      ? new Error(message)
      : new StorageRefusal("StorageRefused", message);
  };
  const segment = encodeURIComponent;

  /** A static large object goes with its segments. Asked so of another object, Swift answers 200 and keeps it. */
  const deleteObject = async (container: string, object: string): Promise<void> => {
    const path = `${segment(container)}/${object.split("/").map(segment).join("/")}`;
    const head = await send("HEAD", path);
    await expect(head, `HEAD ${object}`, 404);
    const isLarge = /^true$/i.test(head.headers.get("x-static-large-object") ?? "");
    // 404: it was deleted meanwhile.
    await expect(
      await send("DELETE", `${path}${isLarge ? "?multipart-manifest=delete" : ""}`),
      `DELETE ${object}`,
      404,
    );
  };

  const emptyContainer = async (name: string): Promise<boolean> => {
    let first: string | undefined;
    for (let same = 0; ;) {
      const response = await send("GET", `${segment(name)}?format=json&limit=${PAGE}`);
      if (response.status === 404) {
        await response.arrayBuffer();
        return false;
      }
      if (!response.ok) {
        await expect(response, `GET ${name}`);
      }
      const objects = response.status === 204 ? [] : ((await response.json()) as { name: string }[]);
      if (objects.length === 0) {
        return true;
      }
      // Listings are behind what was deleted for a moment; for longer than that nothing is won by going on.
      same = objects[0]?.name === first ? same + 1 : 0;
      first = objects[0]?.name;
      if (same >= MAX_SAME_LISTINGS) {
        throw new Error(`the cloud's object storage still lists ${String(first)} in ${name} after its deletion`);
      }
      if (same > 0) {
        await sleep(LISTING_DELAY_MS * same, undefined, { signal });
      }
      for (let at = 0; at < objects.length; at += CONCURRENCY) {
        await Promise.all(objects.slice(at, at + CONCURRENCY).map(({ name: object }) => deleteObject(name, object)));
      }
    }
  };

  return {
    putContainer: async (name, headers) => expect(await send("PUT", segment(name), headers), `PUT ${name}`),
    changeContainer: async (name, headers) => expect(await send("POST", segment(name), headers), `POST ${name}`),
    deleteContainer: async (name) => {
      // Parts of S3's multipart uploads are in a container beside it.
      for (const each of [`${name}+segments`, name]) {
        if (await emptyContainer(each)) {
          await expect(await send("DELETE", segment(each)), `DELETE ${each}`, 404);
        }
      }
    },
  };
}
