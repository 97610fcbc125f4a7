import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { pipeline } from "node:stream/promises";
import { CwlError, messageOf } from "../errors.ts";
import type { Fetcher } from "../load/fetcher.ts";
import { ContentCache } from "./content-cache.ts";
import type { CachedFile } from "./content-cache.ts";

export interface HttpFetcherOptions {
  /** Directory of a cache by content; what is in it is asked for again only with a condition. Off without one. */
  readonly cacheDir?: string | undefined;
  /** Most bytes in the cache (default 2 GiB). */
  readonly cacheBytes?: number | undefined;
  /** Most bytes of one input file (default none). Documents have their own limit. */
  readonly downloadBytes?: number | undefined;
  /** How long a server may take to begin its answer, and then to go on with it (default 60 s). */
  readonly timeoutMs?: number | undefined;
  /** Throws for an address that may not be reached. Asked for each address, also those of redirections. */
  readonly check?: ((url: URL) => void | Promise<void>) | undefined;
  /** Sends the requests; default: the platform's. It must not follow redirections by itself. */
  readonly fetch?: typeof fetch | undefined;
}

const DEFAULT_CACHE_BYTES = 2 * 1024 ** 3;
const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_REDIRECTS = 10;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

interface Wish {
  readonly url: string;
  readonly limit: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Reaches documents and inputs over HTTP and HTTPS. */
export function createHttpFetcher(options: HttpFetcherOptions = {}): Fetcher {
  const fetcher = new HttpFetcher(options);
  return {
    readText: (url, { limit, signal }) => fetcher.readText({ url, limit, signal }),
    download: (url, path, { signal }) => fetcher.save({ url, limit: options.downloadBytes, signal }, path),
  };
}

class HttpFetcher {
  private readonly options: HttpFetcherOptions;
  private readonly cache: ContentCache | undefined;

  constructor(options: HttpFetcherOptions) {
    this.options = options;
    this.cache =
      options.cacheDir === undefined
        ? undefined
        : new ContentCache(options.cacheDir, options.cacheBytes ?? DEFAULT_CACHE_BYTES);
  }

  async readText(wish: Wish): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "cwl-fetch-"));
    try {
      const path = join(folder, "text");
      await this.save(wish, path);
      return await readFile(path, "utf8");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async save(wish: Wish, path: string): Promise<void> {
    const cached = this.cache?.find(wish.url);
    let response: Response;
    try {
      response = await this.request(wish, cached);
    } catch (error) {
      // Without a network, what was read before is better than nothing. A refusal or a cancellation is not undone by it.
      if (cached === undefined || error instanceof CwlError) {
        throw error instanceof CwlError ? error : failed(wish.url, messageOf(rootCause(error)), error);
      }
      await this.cache?.copyTo(cached, path);
      return;
    }
    if (response.status === 304 && cached !== undefined) {
      await response.body?.cancel();
      await this.cache?.copyTo(cached, path);
      return;
    }
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw failed(wish.url, `the server answers ${response.status} ${response.statusText}`.trim());
    }
    await this.receive(response, wish, path);
    await this.cache?.add(wish.url, path, {
      etag: response.headers.get("etag") ?? undefined,
      modified: response.headers.get("last-modified") ?? undefined,
    });
  }

  /** Follows redirections one by one, so that each address is checked before it is asked. */
  private async request({ url, signal }: Wish, cached: CachedFile | undefined): Promise<Response> {
    const send = this.options.fetch ?? fetch;
    const conditions: Record<string, string> = {
      ...(cached?.etag === undefined ? {} : { "if-none-match": cached.etag }),
      ...(cached?.modified === undefined ? {} : { "if-modified-since": cached.modified }),
    };
    let address = readUrl(url);
    for (let count = 0; count <= MAX_REDIRECTS; count += 1) {
      await this.options.check?.(address);
      const timeout = new AbortController();
      const timer = setTimeout(() => timeout.abort(new Error("the server does not answer")), this.timeoutMs());
      let response: Response;
      try {
        const signals = signal === undefined ? [timeout.signal] : [timeout.signal, signal];
        response = await send(address, { redirect: "manual", headers: conditions, signal: AbortSignal.any(signals) });
      } catch (error) {
        if (signal?.aborted === true) {
          throw new CwlError("cancelled", "the run was cancelled", { cause: error });
        }
        throw error;
      } finally {
        clearTimeout(timer);
      }
      const target = response.headers.get("location");
      if (!REDIRECTS.includes(response.status) || target === null) {
        return response;
      }
      await response.body?.cancel();
      address = readUrl(target, address);
    }
    throw failed(url, `more than ${MAX_REDIRECTS} redirections`);
  }

  private async receive(response: Response, { url, limit, signal }: Wish, path: string): Promise<void> {
    const tooLarge = (): CwlError => new CwlError("limit", `${url} has more than ${limit} bytes`);
    const announced = Number(response.headers.get("content-length") ?? 0);
    if (limit !== undefined && announced > limit) {
      await response.body?.cancel();
      throw tooLarge();
    }
    const stalled = new AbortController();
    const wait = (): NodeJS.Timeout =>
      setTimeout(() => stalled.abort(new Error("the server stopped in the middle of its answer")), this.timeoutMs());
    let timer = wait();
    let received = 0;
    const counter = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        clearTimeout(timer);
        timer = wait();
        received += chunk.length;
        done(limit !== undefined && received > limit ? tooLarge() : null, chunk);
      },
    });
    const signals = signal === undefined ? [stalled.signal] : [stalled.signal, signal];
    try {
      const body = Readable.fromWeb(response.body as ReadableStream);
      await pipeline(body, counter, createWriteStream(path, { flags: "wx" }), { signal: AbortSignal.any(signals) });
    } catch (error) {
      await rm(path, { force: true });
      if (signal?.aborted === true) {
        throw new CwlError("cancelled", "the run was cancelled", { cause: error });
      }
      throw error instanceof CwlError ? error : failed(url, messageOf(rootCause(error)), error);
    } finally {
      clearTimeout(timer);
    }
  }

  private timeoutMs(): number {
    return this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }
}

function readUrl(reference: string, base?: URL): URL {
  const url = URL.parse(reference, base?.href);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new CwlError("unsupported", `${reference} cannot be fetched: only http and https addresses can`);
  }
  return url;
}

function failed(url: string, why: string, cause?: unknown): CwlError {
  return new CwlError("reference", `cannot read ${url}: ${why}`, cause === undefined ? {} : { cause });
}

/** What fetch says itself is "fetch failed"; the reason is below. */
function rootCause(error: unknown): unknown {
  const { cause } = error as { cause?: unknown };
  return cause instanceof Error ? rootCause(cause) : ((error as { reason?: unknown }).reason ?? error);
}
