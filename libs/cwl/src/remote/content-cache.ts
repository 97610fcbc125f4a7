import { createHash, randomUUID } from "node:crypto";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { copyOrReflink } from "../files/copy.ts";

/** What a server said about a file that is kept, by which it can be asked whether it is still the same. */
export interface CachedFile {
  readonly path: string;
  readonly etag: string | undefined;
  readonly modified: string | undefined;
}

interface Entry {
  readonly url: string;
  readonly digest: string;
  readonly etag: string | undefined;
  readonly modified: string | undefined;
}

/** Files from elsewhere by their content: one copy however many addresses it has. The longest unused go when it is full. */
export class ContentCache {
  private readonly contents: string;
  private readonly addresses: string;
  private readonly maxBytes: number;

  constructor(directory: string, maxBytes: number) {
    this.contents = join(directory, "content");
    this.addresses = join(directory, "address");
    this.maxBytes = maxBytes;
    mkdirSync(this.contents, { recursive: true, mode: 0o700 });
    mkdirSync(this.addresses, { recursive: true, mode: 0o700 });
  }

  find(url: string): CachedFile | undefined {
    let entry: Entry;
    try {
      entry = JSON.parse(readFileSync(this.addressOf(url), "utf8")) as Entry;
    } catch {
      // Never seen, or written by half: it is fetched again.
      return undefined;
    }
    const path = join(this.contents, entry.digest);
    if (entry.url !== url || !/^[0-9a-f]{64}$/.test(entry.digest) || !existsSync(path)) {
      return undefined;
    }
    const now = new Date();
    utimesSync(path, now, now);
    return { path, etag: entry.etag, modified: entry.modified };
  }

  /** Keeps a copy of a file. What does not fit is not kept. */
  async add(
    url: string,
    file: string,
    tags: { readonly etag: string | undefined; readonly modified: string | undefined },
  ): Promise<void> {
    const { size } = statSync(file);
    if (size > this.maxBytes / 2) {
      return;
    }
    const hash = createHash("sha256");
    await pipeline(createReadStream(file), hash);
    const digest = hash.digest("hex");
    const path = join(this.contents, digest);
    if (!existsSync(path)) {
      this.makeRoom(size);
      const draft = join(this.contents, `.${randomUUID()}`);
      await copyFile(file, draft);
      renameSync(draft, path);
    }
    const entry: Entry = { url, digest, ...tags };
    const draft = join(this.addresses, `.${randomUUID()}`);
    writeFileSync(draft, JSON.stringify(entry));
    renameSync(draft, this.addressOf(url));
  }

  async copyTo(cached: CachedFile, path: string): Promise<void> {
    await copyOrReflink(cached.path, path);
  }

  private addressOf(url: string): string {
    return join(this.addresses, createHash("sha256").update(url).digest("hex"));
  }

  private makeRoom(size: number): void {
    const kept = readdirSync(this.contents)
      .map((name) => join(this.contents, name))
      .flatMap((path) => {
        const info = statSync(path, { throwIfNoEntry: false });
        return info === undefined ? [] : [{ path, size: info.size, used: info.mtimeMs }];
      })
      .sort((a, b) => a.used - b.used);
    let total = kept.reduce((sum, item) => sum + item.size, size);
    for (const item of kept) {
      if (total <= this.maxBytes) {
        return;
      }
      rmSync(item.path, { force: true });
      total -= item.size;
    }
  }
}
