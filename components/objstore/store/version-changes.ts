import { S3Error } from "../errors.ts";
import type { EventName } from "../protocol/notification.ts";
import type { ContentFiles } from "./content/content-files.ts";
import type { ContentLabel } from "./content/content-trailer.ts";
import type { Contents } from "./content/contents.ts";
import type { Events } from "./events.ts";
import type { IndexDatabase } from "./index/index-database.ts";
import type { Lock } from "./lock.ts";
import type { Bucket, ContentPart, Version } from "./rows.ts";
import type { Changeable, Versions } from "./versions.ts";

interface VersionChangesDeps {
  readonly index: IndexDatabase;
  readonly files: ContentFiles;
  readonly contents: Contents;
  readonly versions: Versions;
  readonly events: Events;
  readonly now: () => number;
}

type VersionName = Pick<Version, "key" | "version" | "seq">;

/**
 * Changes of tags, lists, locks and the keys of keys. Content files tell of a version as it came: for one whose bytes are in files another file tells
 * what it is now, so that a rebuilt index has the change. Small content lies in the index beside its version and needs none.
 */
export class VersionChanges {
  readonly #deps: VersionChangesDeps;
  /** Order of changes, even when the clock was set back. */
  #last = 0;

  constructor(deps: VersionChangesDeps) {
    this.#deps = deps;
  }

  /** `undefined` removes them. */
  setTags(bucket: Bucket, version: Version, tags: Readonly<Record<string, string>> | undefined): Promise<void> {
    const text = tags === undefined ? null : JSON.stringify(tags);
    const event = tags === undefined ? "ObjectTagging:Delete" : "ObjectTagging:Put";
    return this.#change(bucket, version, () => ({ tags: text }), event);
  }

  /** `acl`: JSON. */
  setAcl(bucket: Bucket, version: Version, acl: string): Promise<void> {
    return this.#change(bucket, version, () => ({ acl }), "ObjectAcl:Put");
  }

  /** Changes what keeps a version from being deleted; `change` throws to refuse. */
  setLock(bucket: Bucket, version: Version, change: (lock: Lock) => Lock): Promise<void> {
    return this.#change(bucket, version, ({ lock }) => ({
      lock: JSON.stringify(change(lock === null ? {} : (JSON.parse(lock) as Lock))),
    }));
  }

  /** By which key of the deployment a version's own is encrypted. */
  setEncryption(bucket: Bucket, version: VersionName, encryption: string): Promise<void> {
    return this.#change(bucket, version, () => ({ encryption }));
  }

  async #change(
    bucket: Bucket,
    { key, version, seq }: VersionName,
    toChanged: (now: Version) => Partial<Changeable>,
    event?: EventName,
  ): Promise<void> {
    const { index, files, contents, versions, events } = this.#deps;
    const find = () => {
      const now = versions.find(bucket.id, key, version);
      if (now?.seq !== seq) {
        throw new S3Error("NoSuchVersion");
      }
      return now;
    };
    const apply = (before: Version, label?: Parameters<Versions["change"]>[3]) => {
      versions.change(bucket, before, { ...before, ...toChanged(before) }, label);
      if (event !== undefined) {
        events.record(bucket, event, before);
      }
    };
    for (let isDone = false; !isDone;) {
      const before = find();
      const content = before.content === null ? undefined : contents.read(before.content);
      if (content === undefined || !("parts" in content)) {
        await index.mutate(() => apply(find()));
        return;
      }
      const label = this.#toLabel(bucket, { ...before, ...toChanged(before) }, content.parts);
      isDone = await files
        .keepLabel(label, index, (file) =>
          index.mutate(() => {
            // Changed by another request since the label was written: what it tells would be wrong.
            if (!isSame(find(), before)) {
              throw new ChangedMeanwhileError();
            }
            apply(before, file);
            return true;
          }),
        )
        .catch((error: unknown) => {
          if (error instanceof ChangedMeanwhileError) {
            return false;
          }
          throw error;
        });
    }
  }

  #toLabel(bucket: Bucket, version: Version, content: readonly ContentPart[]): ContentLabel {
    this.#last = Math.max(this.#deps.now() * 1000, this.#last + 1);
    const { key, seq, size, etag, owner, parts, acl, lock, encryption } = version;
    const parse = (text: string | null) => (text === null ? undefined : (JSON.parse(text) as object));
    return {
      kind: "version",
      bucket: bucket.name,
      key,
      seq,
      version: version.version,
      size,
      etag,
      owner,
      parts: parts ?? undefined,
      acl,
      lock,
      encryption,
      headers: parse(version.headers),
      tags: parse(version.tags),
      checksum: parse(version.checksum),
      content,
      changed: this.#last,
    };
  }
}

function isSame(now: Version, before: Version): boolean {
  return (["tags", "acl", "lock", "encryption", "label", "content"] as const).every(
    (name) => now[name] === before[name],
  );
}

class ChangedMeanwhileError extends Error {}
