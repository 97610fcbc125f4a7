import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

import type { Peer } from "@swath/service";

import { MANIFEST_TYPES, type ManifestDocument } from "./manifest.ts";

export interface ReadManifest {
  readonly digest: string;
  readonly mediaType: string;
  readonly content: Buffer;
  readonly document: ManifestDocument;
}

interface BlobOptions {
  readonly signal?: AbortSignal | undefined;
  /** The blob has as many, or is refused. */
  readonly size: number;
}

/** Reads of a registry; what does not match its digest is refused. */
export interface RegistryClient {
  /** Whether the registry answers and takes the login. @throws {RegistryRefusal} */
  readonly check: () => Promise<void>;
  /** By tag or digest. @throws {RegistryRefusal} */
  readonly readManifest: (repository: string, reference: string, signal?: AbortSignal) => Promise<ReadManifest>;
  /** What a tag stands for, without fetching it; undefined where the registry does not say. @throws {RegistryRefusal} */
  readonly findManifest: (repository: string, reference: string) => Promise<string | undefined>;
  /** @throws {RegistryRefusal}; the stream fails at its end where the content is not that of the digest */
  readonly readBlob: (repository: string, digest: string, options: BlobOptions) => Promise<AsyncIterable<Buffer>>;
  /** The same where the size is not known before. */
  readonly openBlob: (
    repository: string,
    digest: string,
    signal?: AbortSignal,
  ) => Promise<{ readonly size: number; readonly content: AsyncIterable<Buffer> }>;
  /** Digests of what names a manifest as its subject; the first page. @throws {RegistryRefusal} */
  readonly readReferrers: (repository: string, digest: string) => Promise<readonly string[]>;
  /** Names of repositories, or tags of one, in the order of the registry; all pages up to a limit. @throws {RegistryRefusal} */
  readonly list: (what: "repositories" | { readonly tagsOf: string }, limit: number) => Promise<readonly string[]>;
}

export interface ClientOptions {
  readonly peer: Pick<Peer, "fetch">;
  /** Nobody's when left out. */
  readonly login?: { readonly username: string; readonly password: string };
}

/** The registry's own words about a request that it refused. */
export class RegistryRefusal extends Error {
  override readonly name = "RegistryRefusal";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const MAX_MANIFEST_BYTES = 4 << 20;
const MAX_ERROR_CHARACTERS = 2000;
const LIST_PAGE = 1000;
const MAX_LIST_BYTES = 8 << 20;

export function createRegistryClient({ peer, login }: ClientOptions): RegistryClient {
  const authorization = toBasic(login);
  const get = async (
    path: string,
    accept: string | undefined,
    { signal, method = "GET" }: { signal?: AbortSignal | undefined; method?: string } = {},
  ) => {
    const response = await peer.fetch(path, {
      method,
      // Of the whole answer: images may be large.
      timeout: 3_600_000,
      headers: { ...(authorization !== undefined && { authorization }), ...(accept !== undefined && { accept }) },
      ...(signal && { signal }),
    });
    if (!response.ok) {
      throw new RegistryRefusal(response.status, readError(await response.text(), response.status));
    }
    return {
      response,
      body: response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as ReadableStream),
    };
  };
  return {
    check: async () => {
      (await get("/v2/", undefined)).body.destroy();
    },
    readManifest: async (repository, reference, signal) => {
      const { response, body } = await get(`/v2/${repository}/manifests/${reference}`, MANIFEST_TYPES.join(", "), {
        signal,
      });
      const content = await readBounded(body, MAX_MANIFEST_BYTES);
      const digest = reference.includes(":") ? reference : digestOf(content);
      if (digestOf(content, digest) !== digest) {
        throw new RegistryRefusal(502, `The manifest of ${repository} is not the one of ${digest}.`);
      }
      const mediaType = response.headers.get("content-type")?.split(";", 1)[0]?.trim() ?? "";
      return { digest, mediaType, content, document: parseDocument(content) };
    },
    readBlob: async (repository, digest, { size, signal }) => {
      const { body } = await get(`/v2/${repository}/blobs/${digest}`, undefined, { signal });
      return verify(body, digest, size);
    },
    openBlob: async (repository, digest, signal) => {
      const { response, body } = await get(`/v2/${repository}/blobs/${digest}`, undefined, { signal });
      const size = Number(response.headers.get("content-length") ?? "-");
      if (!Number.isSafeInteger(size) || size < 0) {
        body.destroy();
        throw new RegistryRefusal(502, `The registry does not say how large ${digest} is.`);
      }
      return { size, content: verify(body, digest, size) };
    },
    findManifest: async (repository, reference) => {
      const path = `/v2/${repository}/manifests/${reference}`;
      const { response, body } = await get(path, MANIFEST_TYPES.join(", "), { method: "HEAD" });
      body.destroy();
      return response.headers.get("docker-content-digest") ?? undefined;
    },
    readReferrers: async (repository, digest) => {
      const { body } = await get(`/v2/${repository}/referrers/${digest}`, undefined);
      const { manifests = [] } = parseDocument(await readBounded(body, MAX_LIST_BYTES));
      return manifests.map((each) => each.digest).filter((each) => /^sha(?:256|512):[0-9a-f]+$/.test(each));
    },
    list: async (what, limit) => {
      const key = what === "repositories" ? "repositories" : "tags";
      const path = what === "repositories" ? "/v2/_catalog" : `/v2/${what.tagsOf}/tags/list`;
      const found: string[] = [];
      for (let next: string | undefined = `${path}?n=${LIST_PAGE}`; next !== undefined && found.length < limit;) {
        const { response, body } = await get(next, undefined);
        const page = parseDocument(await readBounded(body, MAX_LIST_BYTES)) as Readonly<Record<string, unknown>>;
        const names = page[key] ?? [];
        if (!Array.isArray(names) || names.some((name) => typeof name !== "string")) {
          throw new RegistryRefusal(502, `The registry's list at ${path} is none.`);
        }
        found.push(...(names as string[]));
        const last = names.at(-1) as string | undefined;
        const hasMore = /rel="?next"?/.test(response.headers.get("link") ?? "");
        next = hasMore && last !== undefined ? `${path}?n=${LIST_PAGE}&last=${encodeURIComponent(last)}` : undefined;
      }
      return found.slice(0, limit);
    },
  };
}

export const toBasic = (login: ClientOptions["login"]): string | undefined =>
  login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;

export function digestOf(content: Buffer, like = "sha256:"): string {
  const algorithm = like.slice(0, like.indexOf(":"));
  return `${algorithm}:${createHash(algorithm).update(content).digest("hex")}`;
}

async function* verify(body: Readable, digest: string, size: number): AsyncGenerator<Buffer> {
  const algorithm = digest.slice(0, digest.indexOf(":"));
  const hash = createHash(algorithm);
  let received = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > size) {
      break;
    }
    hash.update(chunk);
    yield chunk;
  }
  if (received !== size || `${algorithm}:${hash.digest("hex")}` !== digest) {
    throw new RegistryRefusal(502, `The content of ${digest} is not what its digest and size say.`);
  }
}

async function readBounded(body: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limit) {
      throw new RegistryRefusal(502, `The manifest has more than ${limit} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseDocument(content: Buffer): ManifestDocument {
  try {
    const value: unknown = JSON.parse(content.toString("utf8"));
    if (typeof value === "object" && value !== null) {
      return value as ManifestDocument;
    }
  } catch {
    // Said below.
  }
  throw new RegistryRefusal(502, "The manifest is not a JSON object.");
}

/** Errors of the distribution specification in words. */
export function readError(text: string, status: number): string {
  try {
    const { errors } = JSON.parse(text) as { errors?: readonly { message?: string }[] };
    const [first] = errors ?? [];
    if (typeof first?.message === "string") {
      return first.message.slice(0, MAX_ERROR_CHARACTERS);
    }
  } catch {
    // Not an error of a registry.
  }
  return `The registry answers ${status}.`;
}
