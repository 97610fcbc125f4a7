import { setTimeout as sleep } from "node:timers/promises";

import { Problem, createPeer } from "@swath/service";

export interface BucketOperator {
  /** Asks for a bucket and waits until it is there. @throws {Problem} saying what keeps it from being made */
  readonly ensure: (bucket: { readonly name: string; readonly withKeys: boolean }) => Promise<void>;
  /** Keys of a bucket that was ensured with them. */
  readonly readKeys: (name: string) => Promise<BucketKeys>;
  /** Has the keys taken away, and with `purge` the bucket, and waits until that is done. */
  readonly remove: (name: string, data: "keep" | "purge") => Promise<void>;
  readonly close: () => Promise<void>;
}

interface BucketKeys {
  readonly access: string;
  readonly secret: string;
  /** The cloud's project that the bucket belongs to; empty without a cloud. */
  readonly projectid: string;
}

interface BucketRecord {
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
}

/** A workspace's step is tried again later anyway. */
const TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 200;
/** Reasons of a bucket that nobody has looked at yet, or that is being deleted. */
const UNDER_WAY = ["Pending", "Deleting"];

export function openBucketOperator(url: string, secret: string): BucketOperator {
  const peer = createPeer(url);
  const call = async <T>(method: string, path: string, body?: object): Promise<T | undefined> => {
    const response = await peer.fetch(path, {
      method,
      timeout: 15_000,
      headers: { authorization: `Bearer ${secret}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status === 404) {
      return undefined;
    }
    if (!response.ok) {
      throw new Problem(
        502,
        `the bucket operator answers ${response.status} to ${method} ${path}: ${text.slice(0, 300)}`,
      );
    }
    return (text === "" ? {} : JSON.parse(text)) as T;
  };
  const pathOf = (name: string) => `/buckets/${encodeURIComponent(name)}`;
  /** Looks until `isDone`; what the operator says of an attempt that failed is the error, at the end of the time or at once. */
  const wait = async (name: string, isDone: (bucket: BucketRecord | undefined) => boolean): Promise<void> => {
    const deadline = Date.now() + TIMEOUT_MS;
    for (;;) {
      const bucket = await call<BucketRecord>("GET", pathOf(name));
      if (isDone(bucket)) {
        return;
      }
      const hasFailed = bucket?.ready === false && !UNDER_WAY.includes(bucket.reason) && bucket.reason !== "Ready";
      if (hasFailed || Date.now() > deadline) {
        throw new Problem(
          502,
          `the bucket operator has not finished bucket ${name}: ${bucket?.message || bucket?.reason || "no answer"}`,
        );
      }
      await sleep(POLL_INTERVAL_MS);
    }
  };
  return {
    ensure: async ({ name, withKeys }) => {
      await call("PUT", pathOf(name), { bucketName: name, withKeys });
      await wait(name, (bucket) => bucket?.ready === true);
    },
    readKeys: async (name) => {
      const keys = await call<BucketKeys>("GET", `${pathOf(name)}/keys`);
      if (keys === undefined) {
        throw new Problem(502, `the bucket operator has no keys of bucket ${name}`);
      }
      return keys;
    },
    remove: async (name, data) => {
      if ((await call("DELETE", `${pathOf(name)}?data=${data}`)) !== undefined) {
        await wait(name, (bucket) => bucket === undefined);
      }
    },
    close: () => peer.close(),
  };
}
