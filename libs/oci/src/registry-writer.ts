import type { Readable } from "node:stream";

import { type ClientOptions, RegistryRefusal, readError, toBasic } from "./registry-client.ts";

export interface NewBlob {
  readonly digest: string;
  readonly size: number;
  /** Another repository of the registry that has it: a registry that can takes it from there, without the content being sent. */
  readonly from?: string;
  /** Called when the registry has not got it yet. */
  readonly open: () => Readable | Buffer | Promise<Readable | Buffer>;
}

/** Pushes to a registry; the registry checks every digest. */
export interface RegistryWriter {
  /** False when the registry had it already. */
  readonly pushBlob: (repository: string, blob: NewBlob) => Promise<boolean>;
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
    return { status: response.status, location: response.headers.get("location") };
  };
  return {
    pushBlob: async (repository, { digest, size, from, open }) => {
      if ((await send("HEAD", `/v2/${repository}/blobs/${digest}`)).status === 200) {
        return false;
      }
      // Not every registry takes a blob in one request, nor from another repository with this login.
      const begin = (query = "") => send("POST", `/v2/${repository}/blobs/uploads/${query}`, { body: Buffer.alloc(0) });
      const mounted =
        from === undefined
          ? undefined
          : await begin(`?${new URLSearchParams({ mount: digest, from }).toString()}`).catch(toRefusal);
      if (mounted?.status === 201) {
        return false;
      }
      const { location } = mounted ?? (await begin());
      await send("PUT", toUpload(location, digest), {
        body: await open(),
        headers: { "content-type": "application/octet-stream", "content-length": String(size) },
      });
      return true;
    },
    pushManifest: async (repository, reference, mediaType, content) => {
      await send("PUT", `/v2/${repository}/manifests/${reference}`, {
        body: content,
        headers: { "content-type": mediaType },
      });
    },
  };
}

/** Where the registry wants the content, with its digest. Whether that is the same registry is for the peer to check. */
function toUpload(location: string | null, digest: string): string {
  const isAbsolute = location !== null && URL.canParse(location);
  const url = location === null ? null : URL.parse(location, "http://registry");
  if (url === null) {
    throw new RegistryRefusal(502, "The registry does not say where the upload goes.");
  }
  url.searchParams.set("digest", digest);
  return isAbsolute ? url.href : `${url.pathname}${url.search}`;
}

/** What a registry refuses can be done otherwise; what else went wrong cannot. */
function toRefusal(error: unknown): undefined {
  if (!(error instanceof RegistryRefusal)) {
    throw error;
  }
}
