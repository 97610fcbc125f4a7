import { toExpirationHeader } from "../protocol/expiry.ts";
import { toChecksumHeaders } from "../protocol/checksums.ts";
import { type ReceivedBody, receiveBody } from "../protocol/body.ts";
import { toWriteCheck } from "../protocol/conditions.ts";
import { type Encryption, readEncryption, toEncryptionHeaders } from "../protocol/encryption.ts";
import { type S3Request, send } from "../protocol/request.ts";
import type { ContentLabel } from "../store/content/content-trailer.ts";
import type { Version } from "../store/rows.ts";
import type { VersionDraft } from "../store/versions.ts";
import { type ObjectAccess, readObjectAccess } from "./acl.ts";
import { authorizeLock, readObjectLock } from "./object-lock.ts";
import {
  type Operation,
  type OperationContext,
  bucketOf,
  keyOf,
  originOf,
  readObjectHeaders,
  readTagHeader,
  setVersionHeader,
} from "./operation.ts";

export const putObject: Operation = {
  name: "PutObject",
  action: "s3:PutObject",
  handle: async (context) => {
    const { store, request } = context;
    const bucket = bucketOf(context);
    const headers = readObjectHeaders(request);
    const tags = readTagHeader(request);
    const access = readObjectAccess(context, bucket);
    const lock = readObjectLock(context, bucket);
    authorizeLock(context);
    const encryption = readEncryption(request, bucket.encryption, context.keyring);
    if (tags !== undefined) {
      context.authorize("s3:PutObjectTagging", bucket.name, keyOf(context));
    }
    const check = toWriteCheck(request.message.headers);
    const current = store.versions.findLatest(bucket.id, keyOf(context));
    check(current);
    const freed = bucket.versioning !== "Enabled" && current?.version === "null" ? current.size : 0;
    const draft = store.versions.draft();
    const key = keyOf(context);
    const body = await receiveBody(request, {
      files: store.files,
      label: () => toLabel(context, { key, headers, tags, draft, access, lock, encryption }),
      encryption,
      checkRoom: (bytes) => context.checkRoom(bucket, bytes, freed),
    });
    await keepObject(context, { key, headers, tags, draft, access, lock, encryption, check, body });
    send(request, 200);
    store.garbage.nudge();
  },
};

interface KeptObject {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tags: Record<string, string> | undefined;
  readonly draft: VersionDraft;
  readonly access: ObjectAccess;
  /** JSON; null: none. */
  readonly lock: string | null;
  readonly encryption: Encryption | undefined;
  /** Sees the newest version in the instant of the write; throws to refuse. */
  readonly check?: (current: Version | undefined) => void;
  readonly body: ReceivedBody;
}

export function setEncryptionHeaders({ response }: Pick<S3Request, "response">, json: string | null): void {
  const head = toEncryptionHeaders(json);
  for (let at = 0; at < head.length; at += 2) {
    response.setHeader(head[at] as string, head[at + 1] as string);
  }
}

/** What the content file of an object says of itself. */
export function toLabel(
  context: OperationContext,
  { key, headers, tags, draft, access, lock, encryption }: Omit<KeptObject, "check" | "body">,
): ContentLabel {
  const { name } = bucketOf(context);
  return {
    kind: "object",
    bucket: name,
    key,
    ...draft,
    ...access,
    lock,
    headers,
    tags,
    encryption: encryption?.stored,
  };
}

/** Makes received content the newest version of a key, durably, and sets the headers that tell of it. */
export async function keepObject(
  context: OperationContext,
  { key, headers, tags, draft, access, lock, encryption, check, body }: KeptObject,
): Promise<Version> {
  const { store, request } = context;
  const bucket = bucketOf(context);
  try {
    const content =
      "file" in body
        ? ({ kind: "file", file: body.file } as const)
        : ({ kind: "inline", data: body.data, md5: body.md5 } as const);
    const { size, etag, checksum } = body;
    const stored = encryption === undefined ? null : JSON.stringify(encryption.stored);
    const added = { key, size, etag, ...access, lock, encryption: stored, headers, tags, checksum, content, draft };
    const name = request.method === "POST" ? "ObjectCreated:Post" : "ObjectCreated:Put";
    const event = { name, origin: originOf(context) } as const;
    const version = await store.versions.put(bucket, { ...added, event }, check);
    setVersionHeader(context, bucket, version.version);
    request.response.setHeader("etag", `"${etag}"`);
    setEncryptionHeaders(request, stored);
    const expiration = toExpirationHeader(bucket, version);
    if (expiration !== undefined) {
      request.response.setHeader("x-amz-expiration", expiration);
    }
    for (const [name, value] of Object.entries(toChecksumHeaders(version.checksum))) {
      request.response.setHeader(name, value);
    }
    return version;
  } catch (error) {
    // After an fsync that failed the index may refer to the file.
    if ("file" in body && !store.index.hasFailed) {
      await store.files.remove(body.file.id);
    }
    throw error;
  } finally {
    if ("file" in body) {
      body.settle();
    }
  }
}
