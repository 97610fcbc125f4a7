import { createHash, randomBytes } from "node:crypto";

import { S3Error } from "../errors.ts";
import type { Buckets } from "./buckets.ts";
import type { ContentFiles, WrittenFile } from "./content/content-files.ts";
import type { Contents } from "./content/contents.ts";
import type { Origin } from "./events.ts";
import type { IndexDatabase } from "./index/index-database.ts";
import { afterPrefix, compareKeys } from "./key-order.ts";
import { type ListQuery, type Listing, Page } from "./listing.ts";
import { type Bucket, type ChecksumName, type ContentPart, type Part, type Upload, type Version } from "./rows.ts";
import { takeTurns } from "./turns.ts";
import { isExpectedChecksum, toObjectChecksum } from "./upload-checksum.ts";
import type { Versions } from "./versions.ts";

const MINIMUM_PART_BYTES = 5 << 20;
const DAY = 24 * 3600 * 1000;
/** Parts that one query gives: some milliseconds. */
const PAGE_PARTS = 1000;
/** Parts that one change removes: some milliseconds. */
const STEP_PARTS = 500;

interface UploadsDeps {
  readonly index: IndexDatabase;
  readonly buckets: Buckets;
  readonly contents: Contents;
  readonly versions: Versions;
  readonly files: ContentFiles;
  readonly now: () => number;
}

export interface NewUpload {
  readonly key: string;
  readonly owner: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly algorithm?: ChecksumName | undefined;
  readonly type?: "COMPOSITE" | "FULL_OBJECT" | undefined;
  readonly acl?: string | null | undefined;
  readonly lock?: string | null | undefined;
  readonly encryption?: string | null | undefined;
}

/** A part as CompleteMultipartUpload names it. */
export interface NamedPart {
  readonly number: number;
  readonly etag: string;
  readonly checksum?: string | undefined;
}

export interface Completion {
  readonly parts: readonly NamedPart[];
  /** Full-object checksum that the client expects, base64. */
  readonly checksum?: string | undefined;
  /** Size of the whole that the client expects. */
  readonly size?: number | undefined;
  readonly check?: (current: Version | undefined) => void;
  readonly origin?: Origin;
}

/** Open multipart uploads and their parts. */
export class Uploads {
  readonly #deps: UploadsDeps;

  constructor(deps: UploadsDeps) {
    this.#deps = deps;
  }

  create(bucket: Bucket, upload: NewUpload): Promise<string> {
    const { index, buckets, now } = this.#deps;
    const id = randomBytes(24).toString("hex");
    return index.mutate(() => {
      buckets.checkRoom(bucket.id, 0);
      index.run(
        "insert into uploads (id, bucket, key, initiated, owner, headers, tags, checksum_algorithm, checksum_type, acl, lock, encryption) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        id,
        bucket.id,
        upload.key,
        now(),
        upload.owner,
        JSON.stringify(upload.headers),
        upload.tags === undefined ? null : JSON.stringify(upload.tags),
        upload.algorithm ?? null,
        upload.type ?? null,
        upload.acl ?? null,
        upload.lock ?? null,
        upload.encryption ?? null,
      );
      return id;
    });
  }

  /** @throws {S3Error} NoSuchUpload unless `id` is an open upload of this key */
  get(bucket: number, key: string, id: string): Upload {
    const upload = this.#deps.index.get<Upload>("select * from uploads where id = ?", id);
    if (upload?.bucket !== bucket || upload.key !== key) {
      throw new S3Error("NoSuchUpload", undefined, { details: { UploadId: id } });
    }
    return upload;
  }

  /** Adds or replaces a part. */
  putPart(upload: Upload, number: number, file: WrittenFile, checksum: string | undefined): Promise<Part> {
    const { index, buckets, contents, now } = this.#deps;
    return index.mutate(() => {
      this.get(upload.bucket, upload.key, upload.id);
      const replaced = this.#findPart(upload.id, number);
      buckets.checkRoom(upload.bucket, file.size - (replaced?.size ?? 0));
      if (replaced !== undefined) {
        contents.discardFile(replaced.file);
      }
      contents.insertFile(file);
      const part: Part = {
        number,
        size: file.size,
        etag: Buffer.from(file.digests.md5 ?? []).toString("hex"),
        modified: now(),
        file: file.id,
        form: 1,
        checksum: checksum ?? null,
      };
      index.run(
        "insert or replace into parts (upload, number, size, etag, modified, file, form, checksum) values (?, ?, ?, ?, ?, ?, 1, ?)",
        upload.id,
        number,
        part.size,
        part.etag,
        part.modified,
        part.file,
        part.checksum,
      );
      index.run("update uploads set changes = changes + 1 where id = ?", upload.id);
      buckets.count(upload.bucket, { uploadBytes: file.size - (replaced?.size ?? 0) });
      return part;
    });
  }

  listParts(upload: string, after: number, limit: number): Part[] {
    return this.#deps.index.all<Part>(
      "select number, size, etag, modified, file, form, checksum from parts where upload = ? and number > ? order by number limit ?",
      upload,
      after,
      limit,
    );
  }

  /** Open uploads in the order of their keys; within one key by id. */
  list(query: ListQuery & { readonly afterId?: string | undefined }): Listing<Upload> {
    const page = new Page<Upload>(query);
    const upper = query.prefix === "" ? undefined : afterPrefix(query.prefix);
    let key = compareKeys(query.after, query.prefix) >= 0 ? query.after : query.prefix;
    // Without an id, uploads of the marker's own key are behind us; a prefix as the start includes its own key.
    let id = query.after !== "" && key === query.after ? (query.afterId ?? "~") : "";
    for (;;) {
      const row = this.#deps.index.get<Upload>(
        "select * from uploads where bucket = ? and (key, id) > (?, ?) order by key, id limit 1",
        query.bucket,
        key,
        id,
      );
      if (row === undefined || (upper !== undefined && compareKeys(row.key, upper) >= 0)) {
        return page.result();
      }
      const step = page.add(row.key, row);
      if (step === "stop") {
        return page.result();
      }
      const beyond = typeof step === "object" ? afterPrefix(step.skipPrefix) : undefined;
      [key, id] = beyond === undefined ? [row.key, row.id] : [beyond, ""];
    }
  }

  /** Removes an upload and its parts. A crash meanwhile leaves an open upload that has lost some of them. */
  async abort(bucket: number, key: string, id: string): Promise<void> {
    const { index } = this.#deps;
    while (await index.mutate(() => this.#dropParts(this.get(bucket, key, id)))) {
      await takeTurns();
    }
    await index.mutate(() => this.#close(this.get(bucket, key, id), []));
  }

  /** Removes all uploads of a bucket. */
  async abortAll(bucket: number): Promise<void> {
    const { index } = this.#deps;
    for (;;) {
      const upload = index.get<Upload>("select * from uploads where bucket = ? order by key, id limit 1", bucket);
      if (upload === undefined) {
        return;
      }
      await this.abort(bucket, upload.key, upload.id).catch(ignoreMissing);
    }
  }

  /** Removes some parts of an upload that has many; whether it still has many. */
  #dropParts(upload: Upload): boolean {
    const { index, contents, buckets } = this.#deps;
    const parts = this.listParts(upload.id, 0, STEP_PARTS);
    const last = parts.at(-1);
    if (parts.length < STEP_PARTS || last === undefined) {
      return false;
    }
    for (const { file } of parts) {
      contents.discardFile(file);
    }
    index.run("delete from parts where upload = ? and number <= ?", upload.id, last.number);
    index.run("update uploads set changes = changes + 1 where id = ?", upload.id);
    buckets.count(upload.bucket, { uploadBytes: -parts.reduce((sum, { size }) => sum + size, 0) });
    return true;
  }

  /** Makes the named parts one object; parts that are not named are dropped. Nothing is copied. */
  async complete(bucket: Bucket, key: string, id: string, completion: Completion): Promise<Version> {
    const upload = this.get(bucket.id, key, id);
    const chosen = await this.#choose(upload, completion.parts);
    const size = chosen.reduce((sum, part) => sum + part.size, 0);
    if (completion.size !== undefined && completion.size !== size) {
      throw new S3Error(
        "InvalidRequest",
        `The parts are ${size} bytes together, x-amz-mp-object-size says ${completion.size}.`,
      );
    }
    const checksum = await toObjectChecksum(upload, chosen);
    if (completion.checksum !== undefined && !isExpectedChecksum(completion.checksum, checksum)) {
      throw new S3Error("BadDigest");
    }
    const { index, versions, files } = this.#deps;
    const draft = versions.draft();
    const digest = createHash("md5");
    for (const { etag } of chosen) {
      digest.update(etag, "hex");
    }
    const parts: ContentPart[] = chosen.map((part) => ({
      file: part.file,
      size: part.size,
      ...(part.form === 1 && { form: 1 as const }),
      number: part.number,
      ...(part.checksum !== null && { checksum: part.checksum }),
    }));
    const added = {
      key,
      size,
      etag: `${digest.digest("hex")}-${chosen.length}`,
      owner: upload.owner,
      acl: upload.acl,
      lock: upload.lock,
      encryption: upload.encryption,
      headers: JSON.parse(upload.headers) as Record<string, string>,
      tags: upload.tags === null ? undefined : (JSON.parse(upload.tags) as Record<string, string>),
      checksum,
      parts: chosen.length,
      draft,
    };
    return files.keepLabel(
      { kind: "version", bucket: bucket.name, ...draft, ...added, content: parts },
      index,
      (label) =>
        index.mutate(() => {
          this.#checkUnchanged(upload);
          this.#close(upload, chosen);
          const content = { kind: "parts", parts } as const;
          const event = { name: "ObjectCreated:CompleteMultipartUpload", origin: completion.origin } as const;
          const version = versions.insert(bucket.id, { ...added, label, content, event }, completion.check);
          index.run(
            "insert into completions (upload, bucket, key, version, seq, completed) values (?, ?, ?, ?, ?, ?)",
            id,
            bucket.id,
            key,
            version.version,
            version.seq,
            this.#deps.now(),
          );
          return version;
        }),
    );
  }

  /** The object that an upload became lately, as long as it is there. */
  findCompleted(bucket: Bucket, key: string, id: string): Version | undefined {
    const row = this.#deps.index.get<{ version: string; seq: number }>(
      "select version, seq from completions where upload = ? and bucket = ? and key = ?",
      id,
      bucket.id,
      key,
    );
    const version = row && this.#deps.versions.find(bucket.id, key, row.version);
    return version?.seq === row?.seq ? version : undefined;
  }

  /** Forgets uploads that were completed more than a day ago. */
  forgetCompleted(): Promise<void> {
    const { index, now } = this.#deps;
    return index.mutate(() => void index.run("delete from completions where completed < ?", now() - DAY));
  }

  #findPart(upload: string, number: number): Part | undefined {
    return this.#deps.index.get<Part>("select * from parts where upload = ? and number = ?", upload, number);
  }

  /** The named parts as they are now. An upload has up to 10,000: others have their turn meanwhile. */
  async #choose(upload: Upload, list: readonly NamedPart[]): Promise<Part[]> {
    if (list.some(({ number }, position) => number < (list[position - 1]?.number ?? 1))) {
      throw new S3Error("InvalidPartOrder");
    }
    // Of a part that was sent twice the last counts.
    const named = list.filter(({ number }, position) => number !== list[position + 1]?.number);
    const known = new Map<number, Part>();
    for (let after = 0; ;) {
      const page = this.listParts(upload.id, after, PAGE_PARTS);
      for (const part of page) {
        known.set(part.number, part);
      }
      if (page.length < PAGE_PARTS) {
        break;
      }
      after = page.at(-1)?.number ?? Infinity;
      await takeTurns();
    }
    return named.map(({ number, etag, checksum }, position) => {
      const part = known.get(number);
      if (part?.etag !== etag || (checksum !== undefined && part.checksum !== null && part.checksum !== checksum)) {
        throw new S3Error("InvalidPart", undefined, {
          details: { UploadId: upload.id, PartNumber: number, ETag: etag },
        });
      }
      if (part.size < MINIMUM_PART_BYTES && position < named.length - 1) {
        throw new S3Error("EntityTooSmall", undefined, {
          details: { ProposedSize: part.size, MinSizeAllowed: MINIMUM_PART_BYTES, PartNumber: number, ETag: etag },
        });
      }
      return part;
    });
  }

  /** The parts were chosen outside the transaction: the upload may have changed meanwhile. */
  #checkUnchanged(upload: Upload): void {
    if (this.get(upload.bucket, upload.key, upload.id).changes !== upload.changes) {
      throw new S3Error("InvalidPart", "A part came while the upload was completed; complete it again.");
    }
  }

  #close(upload: Upload, kept: readonly Part[]): void {
    const { index, buckets } = this.#deps;
    const all = index.get<{ count: number; bytes: number }>(
      "select count(*) as count, coalesce(sum(size), 0) as bytes from parts where upload = ?",
      upload.id,
    ) ?? { count: 0, bytes: 0 };
    if (all.count > kept.length) {
      const numbers = JSON.stringify(kept.map(({ number }) => number));
      index.run(
        "update files set garbage = 1 where id in (select file from parts where upload = ? and number not in (select value from json_each(?)))",
        upload.id,
        numbers,
      );
    }
    index.run("delete from parts where upload = ?", upload.id);
    index.run("delete from uploads where id = ?", upload.id);
    buckets.count(upload.bucket, { uploadBytes: -all.bytes });
  }
}

/** Somebody else was faster. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof S3Error && error.code === "NoSuchUpload")) {
    throw error;
  }
}
