import { hash } from "node:crypto";
import { crc32 } from "node:zlib";

import type { WrittenFile } from "./content-files.ts";
import { DamagedContentError } from "./content-reader.ts";
import type { IndexDatabase } from "../index/index-database.ts";
import { ReadCache } from "../index/read-cache.ts";
import type { ContentPart } from "../rows.ts";

/** Memory for content that was read lately: small objects, and which files large ones are of. */
const CACHE_BYTES = 12 << 20;

/** Content that a new version is to have. */
export type NewContent =
  /** Small: kept in the index itself. */
  | { readonly kind: "inline"; readonly data: Uint8Array; readonly md5: string }
  /** Files already known to the index (parts of an upload). */
  | { readonly kind: "parts"; readonly parts: readonly ContentPart[] }
  /** A file just written. */
  | { readonly kind: "file"; readonly file: WrittenFile }
  /** The content of another version: nothing is copied. */
  | { readonly kind: "shared"; readonly id: number };

/** By which a scrub finds out whether a file is what came. */
function toStoredDigest({ md5 }: WrittenFile["digests"]): string {
  return `md5:${Buffer.from(md5 ?? []).toString("hex")}`;
}

/** What is to be read: bytes, or files in order. */
export type StoredContent = { readonly data: Uint8Array } | { readonly parts: readonly ContentPart[] };

/** The same bytes as what sockets take: made once, rather than each time they are sent. */
function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Whether small content is what came. What is kept in memory was read from the disk and verified once. */
export function isSound({
  data,
  crc,
  md5,
}: {
  data: Uint8Array | null;
  crc: number | null;
  md5: string | null;
}): boolean {
  const bytes = data ?? new Uint8Array();
  return crc === null ? hash("md5", bytes) === md5 : crc32(bytes) === crc;
}

/** Content rows and their reference counts. All but `read` belong inside `mutate`. */
export class Contents {
  readonly #index: IndexDatabase;
  readonly #read: ReadCache<number, StoredContent | undefined>;

  constructor(index: IndexDatabase) {
    this.#index = index;
    this.#read = new ReadCache(index, CACHE_BYTES, (content) =>
      content === undefined ? 0 : "data" in content ? content.data.length + 200 : content.parts.length * 200,
    );
  }

  read(id: number): StoredContent | undefined {
    return this.#read.get(id, () => this.#find(id));
  }

  /** @throws {DamagedContentError} when the bytes in the index are not those that were stored */
  #find(id: number): StoredContent | undefined {
    const row = this.#index.get<{
      data: Uint8Array | null;
      parts: string | null;
      crc: number | null;
      md5: string | null;
    }>("select data, parts, crc, md5 from contents where id = ?", id);
    if (row === undefined) {
      return undefined;
    }
    if (row.parts === null && !isSound(row)) {
      throw new DamagedContentError(`index:${id}`, "the bytes in the index are not those that were stored");
    }
    return row.parts === null
      ? { data: toBuffer(row.data ?? new Uint8Array()) }
      : { parts: JSON.parse(row.parts) as readonly ContentPart[] };
  }

  /**
   * `insert` for a version that takes the place of one whose content is `replaced`, which is released. Small content goes into
   * the row of the small content before it: half the pages change.
   */
  insertInPlaceOf(replaced: number | null, content: NewContent): number {
    if (replaced === null) {
      return this.#insert(content);
    }
    if (content.kind === "inline") {
      const { changes } = this.#index.run(
        "update contents set md5 = ?, data = ?, crc = ? where id = ? and refs = 1 and parts is null",
        content.md5,
        content.data,
        crc32(content.data),
        replaced,
      );
      if (changes > 0) {
        this.#read.forget(replaced);
        return replaced;
      }
    }
    // Before the release: a copy of an object onto itself goes on with the same content.
    const id = this.#insert(content);
    this.release(replaced);
    return id;
  }

  #insert(content: NewContent): number {
    switch (content.kind) {
      case "inline":
        return this.#index.run(
          "insert into contents (refs, md5, data, crc) values (1, ?, ?, ?)",
          content.md5,
          content.data,
          crc32(content.data),
        ).id;
      case "file":
        this.insertFile(content.file);
        return this.#insertParts([{ file: content.file.id, size: content.file.size, form: 1 }]);
      case "parts":
        return this.#insertParts(content.parts);
      case "shared":
        this.#index.run("update contents set refs = refs + 1 where id = ?", content.id);
        return content.id;
    }
  }

  insertFile({ id, size, digests }: WrittenFile): void {
    this.#index.run(
      "insert into files (id, size, digest, form) values (?, ?, ?, 1)",
      id,
      size,
      toStoredDigest(digests),
    );
  }

  /** Drops one reference; content that nobody refers to any more becomes garbage. */
  release(id: number): void {
    const row = this.#index.get<{ refs: number; parts: string | null }>(
      "select refs, parts from contents where id = ?",
      id,
    );
    if (row === undefined) {
      return;
    }
    if (row.refs > 1) {
      this.#index.run("update contents set refs = refs - 1 where id = ?", id);
      return;
    }
    this.#index.run("delete from contents where id = ?", id);
    // The number may be given to other content.
    this.#read.forget(id);
    if (row.parts !== null) {
      for (const { file } of JSON.parse(row.parts) as readonly ContentPart[]) {
        this.discardFile(file);
      }
    }
  }

  /** @throws {DamagedContentError} when damage of one of these files is known: nobody may make more of it */
  checkSound(content: StoredContent): void {
    for (const { file } of "parts" in content ? content.parts : []) {
      const damage = this.#index.get<{ damage: string | null }>("select damage from files where id = ?", file)?.damage;
      if (damage !== null && damage !== undefined) {
        throw new DamagedContentError(file, damage.replace(/^content file \S+ is damaged: /, ""));
      }
    }
  }

  /** Drops one reference to a file; one that nothing is made of any more becomes garbage. */
  discardFile(file: string): void {
    this.#index.run("update files set refs = refs - 1, garbage = (refs <= 1) where id = ?", file);
  }

  #insertParts(parts: readonly ContentPart[]): number {
    return this.#index.run("insert into contents (refs, parts) values (1, ?)", JSON.stringify(parts)).id;
  }
}
