import { randomBytes } from "node:crypto";

import type { Buckets } from "./buckets.ts";
import type { WrittenFile } from "./content/content-files.ts";
import type { Contents, NewContent } from "./content/contents.ts";
import type { EventName } from "../protocol/notification.ts";
import type { Events, Origin } from "./events.ts";
import type { IndexDatabase } from "./index/index-database.ts";
import { ReadCache } from "./index/read-cache.ts";
import type { Bucket, StoredChecksum, Version } from "./rows.ts";

export interface NewVersion {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  readonly owner: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly checksum?: StoredChecksum | undefined;
  readonly parts?: number | undefined;
  readonly content: NewContent;
  /** Order and id that the content files name already. */
  readonly draft?: VersionDraft | undefined;
  /** File that says what this version is, where its content files do not. */
  readonly label?: WrittenFile | undefined;
  /** JSON, as the rows hold them. */
  readonly acl?: string | null | undefined;
  readonly lock?: string | null | undefined;
  readonly encryption?: string | null | undefined;
  /** What is told of it to whoever asked for events. */
  readonly event?: { readonly name: EventName; readonly origin?: Origin | undefined } | undefined;
}

/** Why something is removed. */
export interface Removal {
  readonly kind: "ObjectRemoved" | "LifecycleExpiration";
  readonly origin?: Origin;
}

/** Order and id of a version that is still to be made; the id counts in buckets with versions. */
export interface VersionDraft {
  readonly seq: number;
  readonly version: string;
}

/** What may change of a version after it was made: JSON, as the rows hold it. */
export type Changeable = Pick<Version, "tags" | "acl" | "lock" | "encryption">;

export interface DeleteResult {
  /** The version that was removed, or the delete marker that was made. */
  readonly version: string;
  readonly marker: boolean;
}

/** The indexes are named because the planner prefers the walk through all versions of a key, of which there may be many. */
const BY_ID = "indexed by versions_id where bucket = ? and key = ? and version = ? and version <> 'null'";
const BURIED = "indexed by versions_buried where bucket = ? and key = ? and buried = 1";

interface VersionsDeps {
  readonly index: IndexDatabase;
  readonly buckets: Buckets;
  readonly contents: Contents;
  readonly events: Events;
  readonly now: () => number;
}

/** Every version of every key. */
export class Versions {
  readonly #deps: VersionsDeps;
  readonly #latest: ReadCache<string, Version | undefined>;

  constructor(deps: VersionsDeps) {
    this.#deps = deps;
    this.#latest = new ReadCache(deps.index, 2000);
  }

  draft(): VersionDraft {
    const seq = this.#deps.now() * 1000;
    return { seq, version: `${seq.toString(36)}${randomBytes(11).toString("hex")}` };
  }

  findLatest(bucket: number, key: string): Version | undefined {
    return this.#latest.get(toName(bucket, key), () =>
      this.#deps.index.get<Version>(
        "select * from versions where bucket = ? and key = ? order by seq desc limit 1",
        bucket,
        key,
      ),
    );
  }

  find(bucket: number, key: string, version: string): Version | undefined {
    if (version !== "null") {
      return this.#deps.index.get<Version>(`select * from versions ${BY_ID}`, bucket, key, version);
    }
    const latest = this.findLatest(bucket, key);
    return latest === undefined || latest.version === "null"
      ? latest
      : this.#deps.index.get<Version>(`select * from versions ${BURIED}`, bucket, key);
  }

  /** Bytes of a version, or of the newest; 0 when it is not there. Keeps nothing in memory. */
  sizeOf(bucket: number, key: string, version: string | undefined): number {
    const { index } = this.#deps;
    const row =
      version === undefined || version === "null"
        ? index.get<{ size: number }>(
            "select size from versions where bucket = ? and key = ? order by seq desc limit 1",
            bucket,
            key,
          )
        : index.get<{ size: number }>(`select size from versions ${BY_ID}`, bucket, key, version);
    return row?.size ?? 0;
  }

  /** Adds a version. `check` sees the newest one there was, in the same instant, and throws to refuse. */
  put(bucket: Bucket, version: NewVersion, check: (current: Version | undefined) => void = () => {}): Promise<Version> {
    return this.#deps.index.mutate(() => this.insert(bucket.id, version, check));
  }

  /** `put` inside a `mutate` of the caller. */
  insert(bucketId: number, added: NewVersion, check: (current: Version | undefined) => void = () => {}): Version {
    const { index, buckets, contents } = this.#deps;
    const current = this.findLatest(bucketId, added.key);
    check(current);
    const bucket = buckets.checkRoom(bucketId, 0);
    const { versioning } = bucket;
    const replaced = versioning === "Enabled" ? undefined : this.#findNull(bucketId, added.key, current);
    buckets.checkRoom(bucketId, added.size - (replaced?.size ?? 0));
    const content = contents.insertInPlaceOf(replaced?.content ?? null, added.content);
    this.#deleteRow(bucketId, replaced);
    this.#bury(bucketId, replaced === current ? undefined : current);
    if (added.label !== undefined) {
      contents.insertFile(added.label);
    }
    const row: Version = {
      key: added.key,
      ...this.#identify(versioning, current, added.draft),
      marker: 0,
      size: added.size,
      etag: added.etag,
      modified: this.#deps.now(),
      owner: added.owner,
      content,
      parts: added.parts ?? null,
      headers: JSON.stringify(added.headers),
      tags: added.tags === undefined ? null : JSON.stringify(added.tags),
      checksum: added.checksum === undefined ? null : JSON.stringify(added.checksum),
      label: added.label?.id ?? null,
      buried: 0,
      acl: added.acl ?? null,
      lock: added.lock ?? null,
      encryption: added.encryption ?? null,
    };
    this.#insertRow(index, bucketId, row);
    this.#latest.set(toName(bucketId, row.key), row);
    if (added.event !== undefined) {
      this.#deps.events.record(bucket, added.event.name, row, added.event.origin);
    }
    buckets.count(bucketId, {
      objects: isVisible(current) ? 0 : 1,
      bytes: added.size - (replaced?.size ?? 0),
    });
    return row;
  }

  /**
   * Deletes as S3 does: without a version id the key (in a versioned bucket by a delete marker), with one that version for
   * good. Resolves with undefined when there was nothing to do.
   */
  delete(
    bucket: Bucket,
    key: string,
    version: string | undefined,
    check?: (current: Version | undefined) => void,
    removal?: Removal,
  ): Promise<DeleteResult | undefined> {
    return this.#deps.index.mutate(() => this.remove(bucket.id, key, version, check, removal));
  }

  /** `delete` inside a `mutate` of the caller. */
  remove(
    bucketId: number,
    key: string,
    version: string | undefined,
    check: (current: Version | undefined) => void = () => {},
    { kind, origin }: Removal = { kind: "ObjectRemoved" },
  ): DeleteResult | undefined {
    const { index, buckets, events } = this.#deps;
    const current = this.findLatest(bucketId, key);
    check(version === undefined ? current : this.find(bucketId, key, version));
    const bucket = buckets.checkRoom(bucketId, 0);
    const { versioning } = bucket;
    let result: DeleteResult | undefined;
    let freed = 0;
    if (version !== undefined || versioning === "") {
      const target = version === undefined ? current : this.find(bucketId, key, version);
      if (target !== undefined) {
        this.#removeRow(bucketId, target);
        freed = target.size;
        result = { version: target.version, marker: target.marker === 1 };
        events.record(bucket, `${kind}:Delete`, { ...target, seq: this.draft().seq }, origin);
      }
    } else {
      const replaced = versioning === "Enabled" ? undefined : this.#findNull(bucketId, key, current);
      this.#removeRow(bucketId, replaced);
      freed = replaced?.size ?? 0;
      this.#bury(bucketId, replaced === current ? undefined : current);
      const marker = this.#toMarker(key, versioning, current);
      this.#insertRow(index, bucketId, marker);
      result = { version: marker.version, marker: true };
      events.record(bucket, `${kind}:DeleteMarkerCreated`, marker, origin);
    }
    this.#latest.forget(toName(bucketId, key));
    const latest = this.findLatest(bucketId, key);
    this.#unearth(bucketId, latest);
    const visibleAfter = isVisible(latest);
    buckets.count(bucketId, { objects: Number(visibleAfter) - Number(isVisible(current)), bytes: -freed });
    return result;
  }

  /** Changes what may change of a version, inside `mutate`; a `label` tells of it where its content is in files. */
  change(bucket: Bucket, version: Version, changed: Changeable, label?: WrittenFile): void {
    const { index, contents } = this.#deps;
    if (label !== undefined) {
      contents.insertFile(label);
      if (version.label !== null) {
        contents.discardFile(version.label);
      }
    }
    index.run(
      "update versions set tags = ?, acl = ?, lock = ?, encryption = ?, label = ? where bucket = ? and key = ? and seq = ?",
      changed.tags,
      changed.acl,
      changed.lock,
      changed.encryption,
      label?.id ?? version.label,
      bucket.id,
      version.key,
      version.seq,
    );
    this.#latest.forget(toName(bucket.id, version.key));
  }

  /** Changes by which key of the deployment the key of small content is encrypted; inside `mutate`. */
  setEncryption(bucket: number, { key, seq }: Pick<Version, "key" | "seq">, value: string): void {
    this.#deps.index.run(
      "update versions set encryption = ? where bucket = ? and key = ? and seq = ?",
      value,
      bucket,
      key,
      seq,
    );
    this.#latest.forget(toName(bucket, key));
  }

  #findNull(bucket: number, key: string, current: Version | undefined): Version | undefined {
    return current === undefined || current.version === "null" ? current : this.find(bucket, key, "null");
  }

  /** Order and name of a new version. The order grows even when the clock was set back. */
  #identify(
    versioning: Bucket["versioning"],
    current: Version | undefined,
    draft: VersionDraft = this.draft(),
  ): Pick<Version, "seq" | "version"> {
    const seq = Math.max(draft.seq, (current?.seq ?? 0) + 1);
    return { seq, version: versioning === "Enabled" ? draft.version : "null" };
  }

  /** A `null` version that is to lie under a newer one can still be found at once. */
  #bury(bucket: number, current: Version | undefined): void {
    if (current?.version === "null") {
      this.#deps.index.run(
        "update versions set buried = 1 where bucket = ? and key = ? and seq = ?",
        bucket,
        current.key,
        current.seq,
      );
    }
  }

  #unearth(bucket: number, latest: Version | undefined): void {
    if (latest?.buried === 1) {
      this.#deps.index.run(
        "update versions set buried = 0 where bucket = ? and key = ? and seq = ?",
        bucket,
        latest.key,
        latest.seq,
      );
      this.#latest.set(toName(bucket, latest.key), { ...latest, buried: 0 });
    }
  }

  #toMarker(key: string, versioning: Bucket["versioning"], current: Version | undefined): Version {
    return {
      key,
      ...this.#identify(versioning, current),
      marker: 1,
      size: 0,
      etag: "",
      modified: this.#deps.now(),
      owner: current?.owner ?? "",
      content: null,
      parts: null,
      headers: "{}",
      tags: null,
      checksum: null,
      label: null,
      buried: 0,
      acl: null,
      lock: null,
      encryption: null,
    };
  }

  #insertRow(index: IndexDatabase, bucket: number, row: Version): void {
    index.run(
      `insert into versions (bucket, key, seq, version, marker, size, etag, modified, owner, content, parts, headers, tags, checksum, label, acl, lock, encryption)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      bucket,
      row.key,
      row.seq,
      row.version,
      row.marker,
      row.size,
      row.etag,
      row.modified,
      row.owner,
      row.content,
      row.parts,
      row.headers,
      row.tags,
      row.checksum,
      row.label,
      row.acl,
      row.lock,
      row.encryption,
    );
  }

  #removeRow(bucket: number, row: Version | undefined): void {
    this.#deleteRow(bucket, row);
    if (row !== undefined && row.content !== null) {
      this.#deps.contents.release(row.content);
    }
  }

  #deleteRow(bucket: number, row: Version | undefined): void {
    if (row !== undefined) {
      this.#deps.index.run("delete from versions where bucket = ? and key = ? and seq = ?", bucket, row.key, row.seq);
      if (row.label !== null) {
        this.#deps.contents.discardFile(row.label);
      }
    }
  }
}

function toName(bucket: number, key: string): string {
  return `${bucket}/${key}`;
}

function isVisible(version: Version | undefined): boolean {
  return version !== undefined && version.marker === 0;
}
