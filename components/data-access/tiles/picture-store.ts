import { createHash } from "node:crypto";

import { createS3Signer, toObjectUrl } from "@swath/s3";

import type { KeptPicture } from "./picture-cache.ts";

const MAX_WRITING = 16;
const TIMEOUT_MS = 5000;
const MAX_HEAD_BYTES = 1024 * 1024;
/** After a failure the storage is left alone for so long: a cache is not worth waiting for. */
const PAUSE_MS = 10_000;

/** What nobody made again for so long goes. */
const EXPIRY = `<LifecycleConfiguration><Rule><ID>pictures</ID><Status>Enabled</Status><Filter/><Expiration><Days>30</Days></Expiration></Rule></LifecycleConfiguration>`;

/** Pictures that outlive a process and that all replicas share. It never fails: what cannot be kept is made again. */
export interface PictureStore {
  readonly get: (name: string) => Promise<KeptPicture | undefined>;
  /** Returns at once. */
  readonly put: (name: string, picture: KeptPicture) => void;
  readonly close: () => Promise<void>;
}

export interface PictureStoreOptions {
  readonly url: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly bucket: string;
  /** Told of each pause. */
  readonly onError: (error: Error) => void;
}

interface PictureRequest {
  readonly method?: "GET" | "PUT";
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Pictures as objects of a bucket, which is made when the first one is kept. */
export function createPictureStore(options: PictureStoreOptions): PictureStore {
  const { url, region, accessKeyId, secretAccessKey, bucket, onError } = options;
  const signer = createS3Signer({ accessKeyId, secretAccessKey, region });
  const writing = new Set<Promise<void>>();
  let pausedUntil = 0;

  const call = async ({ method = "GET", body, ...object }: PictureRequest) => {
    const target = toObjectUrl({ endpoint: url, bucket, ...object });
    const headers: Record<string, string> =
      body === undefined ? {} : { "content-md5": createHash("md5").update(body).digest("base64") };
    return fetch(target, {
      method,
      headers: await signer.sign({ method, url: target, headers }),
      ...(body !== undefined && { body: new Uint8Array(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  };
  const pause = (error: Error) => {
    pausedUntil = Date.now() + PAUSE_MS;
    onError(error);
  };
  const write = async (name: string, picture: KeptPicture): Promise<void> => {
    const body = encodePicture(picture);
    let response = await call({ key: name, method: "PUT", body });
    if (response.status === 404) {
      await response.body?.cancel();
      const made = await call({ method: "PUT" });
      await made.body?.cancel();
      const expiry = await call({ query: { lifecycle: "" }, method: "PUT", body: Buffer.from(EXPIRY) });
      await expiry.body?.cancel();
      response = await call({ key: name, method: "PUT", body });
    }
    await response.body?.cancel();
    if (!response.ok) {
      throw new Error(`the storage refused a picture with status ${response.status}`);
    }
  };
  return {
    get: async (name) => {
      if (Date.now() < pausedUntil) {
        return undefined;
      }
      try {
        const response = await call({ key: name });
        if (!response.ok) {
          await response.body?.cancel();
          return undefined;
        }
        return decodePicture(Buffer.from(await response.arrayBuffer()));
      } catch (error) {
        pause(error as Error);
        return undefined;
      }
    },
    put: (name, picture) => {
      // A few at a time: who renders faster than the storage writes keeps less.
      if (writing.size >= MAX_WRITING || Date.now() < pausedUntil) {
        return;
      }
      const task = write(name, picture)
        .catch((error: unknown) => pause(error as Error))
        .finally(() => writing.delete(task));
      writing.add(task);
    },
    close: async () => {
      await Promise.all(writing);
    },
  };
}

/** Length of the facts, the facts as JSON, the picture. */
function encodePicture({ bytes, ...facts }: KeptPicture): Buffer {
  const head = Buffer.from(JSON.stringify(facts));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, bytes]);
}

/** `undefined` for anything that is not a whole one. */
function decodePicture(object: Buffer): KeptPicture | undefined {
  const length = object.length > 4 ? object.readUInt32BE(0) : MAX_HEAD_BYTES;
  if (length >= MAX_HEAD_BYTES || length + 4 >= object.length) {
    return undefined;
  }
  try {
    const facts = JSON.parse(object.toString("utf8", 4, 4 + length)) as Omit<KeptPicture, "bytes">;
    return typeof facts.contentType === "string" && typeof facts.versions === "object"
      ? { ...facts, bytes: object.subarray(4 + length) }
      : undefined;
  } catch {
    return undefined;
  }
}
