import { type Dispatcher, type Response, fetch } from "undici";

import { StorageRefusal } from "../bucket-storage.ts";

const TIMEOUT_MS = 60_000;
const PAGE = 1000;
const CONCURRENCY = 8;

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
  const expect = async (answer: Response, what: string, ...also: readonly number[]): Promise<void> => {
    const text = (await answer.text())
      .replaceAll(/<[^>]*>|\s+/g, " ")
      .trim()
      .slice(0, 200);
    if (answer.ok || also.includes(answer.status)) {
      return;
    }
    const message = `the cloud's object storage answers ${answer.status} to ${what}: ${text}`;
    throw answer.status === 429 || answer.status >= 500
      ? new Error(message)
      : new StorageRefusal("StorageRefused", message);
  };
  const segment = encodeURIComponent;

  const emptyContainer = async (name: string): Promise<boolean> => {
    for (;;) {
      const answer = await send("GET", `${segment(name)}?format=json&limit=${PAGE}`);
      if (answer.status === 404) {
        await answer.arrayBuffer();
        return false;
      }
      if (!answer.ok) {
        await expect(answer, `GET ${name}`);
      }
      const objects = answer.status === 204 ? [] : ((await answer.json()) as { name: string }[]);
      if (objects.length === 0) {
        return true;
      }
      for (let at = 0; at < objects.length; at += CONCURRENCY) {
        await Promise.all(
          objects.slice(at, at + CONCURRENCY).map(async ({ name: object }) => {
            const path = `${segment(name)}/${object.split("/").map(segment).join("/")}`;
            // A static large object goes with its segments (404: it was deleted meanwhile).
            await expect(await send("DELETE", `${path}?multipart-manifest=delete`), `DELETE ${object}`, 404);
          }),
        );
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
