import type { Readable } from "node:stream";

import { type ClientOptions, RegistryRefusal, readError, toBasic } from "./registry-client.ts";

export interface NewBlob {
  readonly digest: string;
  readonly size: number;
  /** Called when the registry has not got it yet. */
  readonly open: () => Readable | Buffer;
}

/** Pushes to a registry; the registry checks every digest. */
export interface RegistryWriter {
  readonly pushBlob: (repository: string, blob: NewBlob) => Promise<void>;
  /** By tag or digest. */
  readonly pushManifest: (repository: string, reference: string, mediaType: string, content: Buffer) => Promise<void>;
}

const TIMEOUT_MS = 3_600_000;

/** @throws {RegistryRefusal} from each of its methods */
export function createRegistryWriter({ peer, login }: ClientOptions): RegistryWriter {
  const authorization = toBasic(login);
  const send = async (method: string, path: string, init: { body?: Readable | Buffer; headers?: object } = {}) => {
    const response = await peer.fetch(path, {
      method,
      timeout: TIMEOUT_MS,
      headers: { ...(authorization !== undefined && { authorization }), ...init.headers },
      ...(init.body !== undefined && { body: init.body, duplex: "half" as const }),
    });
    const text = await response.text();
    if (!response.ok && !(method === "HEAD" && response.status === 404)) {
      throw new RegistryRefusal(response.status, readError(text, response.status));
    }
    return response.status;
  };
  return {
    pushBlob: async (repository, { digest, size, open }) => {
      if ((await send("HEAD", `/v2/${repository}/blobs/${digest}`)) === 200) {
        return;
      }
      await send("POST", `/v2/${repository}/blobs/uploads/?digest=${digest}`, {
        body: open(),
        headers: { "content-type": "application/octet-stream", "content-length": String(size) },
      });
    },
    pushManifest: async (repository, reference, mediaType, content) => {
      await send("PUT", `/v2/${repository}/manifests/${reference}`, {
        body: content,
        headers: { "content-type": mediaType },
      });
    },
  };
}
