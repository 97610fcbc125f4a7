import { S3Error } from "../errors.ts";
import { toExpirationHeader } from "../protocol/expiry.ts";
import { confineActiveContent } from "../protocol/active-content.ts";
import { toChecksumHeaders } from "../protocol/checksums.ts";
import { checkReadConditions } from "../protocol/conditions.ts";
import { toLockHeaders } from "../protocol/object-lock.ts";
import { openEncryption, toEncryptionHeaders } from "../protocol/encryption.ts";
import { type ByteRange, parseRange } from "../protocol/range.ts";
import { type S3Request, header, sendHead, startHead } from "../protocol/request.ts";
import { sendContent } from "../protocol/send-content.ts";
import { cryptSmall } from "../store/encryption/cipher.ts";
import { ContentStream } from "../store/content/content-stream.ts";
import type { StoredContent } from "../store/content/contents.ts";
import type { ContentPart, StoredChecksum, Version } from "../store/rows.ts";
import { type Operation, type OperationContext, bucketOf, findVersion } from "./operation.ts";

const OVERRIDES = [
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-type",
  "expires",
];

/** GetObject and HeadObject: the same answer, with and without its body. */
export const getObject: Operation = {
  name: "GetObject",
  action: "s3:GetObject",
  versionAction: "s3:GetObjectVersion",
  sendsHead: true,
  handle: response,
};

/** Awaits nothing where the content is at hand: a promise that nobody needs costs as much as the look-up. */
function response(context: OperationContext): undefined | Promise<void> {
  const { store, request } = context;
  const version = findVersion(context);
  const head = toHead(context, version);
  if (checkReadConditions(request.message.headers, version)) {
    sendHead(request, 304, withoutType(head));
    return undefined;
  }
  const content = version.content === null ? undefined : store.contents.read(version.content);
  if (content === undefined) {
    throw new Error(`version ${version.version} of a key has no content`);
  }
  const range = chooseRange(context, version, content, head);
  const { start, end } = range ?? { start: 0, end: version.size - 1 };
  head.push("content-length", String(end - start + 1));
  if (range !== undefined) {
    head.push("content-range", `bytes ${start}-${end}/${version.size}`);
  } else if (wantsChecksum(request)) {
    head.push(...Object.entries(toChecksumHeaders(version.checksum)).flat());
  }
  const encryption = openEncryption(version.encryption, request, context.keyring);
  const status = range === undefined ? 200 : 206;
  if (request.method === "HEAD") {
    sendHead(request, status, head);
    return undefined;
  }
  if ("data" in content) {
    const data =
      encryption === undefined ? content.data : cryptSmall(encryption.key, encryption.stored.seed, content.data);
    sendHead(request, status, head, range === undefined ? data : data.subarray(start, end + 1));
    return undefined;
  }
  return sendFiles(context, content.parts, { status, head, range: { start, end }, key: encryption?.key });
}

interface ServiceResponse {
  readonly status: number;
  readonly head: readonly string[];
  readonly range: ByteRange;
  readonly key: Buffer | undefined;
}

async function sendFiles(
  context: OperationContext,
  parts: readonly ContentPart[],
  { status, head, range, key }: ServiceResponse,
): Promise<void> {
  const { store, request } = context;
  // Before anything is awaited: an overwrite must not take the files away.
  const release = store.files.hold(parts);
  const stream = new ContentStream(store.files, parts, range.start, range.end + 1, key);
  try {
    const first = await stream.next();
    context.watchClient();
    startHead(request, status, head);
    await sendContent(request.response, stream, first);
  } finally {
    await stream.close();
    release();
  }
}

/** Headers of a version, made once as long as its row is remembered. */
const heads = new WeakMap<Version, readonly string[]>();

/** Headers of an answer as Node takes them: names and values in turn. */
function toHead(context: OperationContext, version: Version): string[] {
  const overrides = readOverrides(context);
  let known = overrides === undefined ? heads.get(version) : undefined;
  if (known === undefined) {
    known = describe(version, overrides);
    if (overrides === undefined) {
      heads.set(version, known);
    }
  }
  const { baseHead } = context.request;
  const bucket = bucketOf(context);
  const head =
    bucket.versioning === "" ? baseHead.concat(known) : baseHead.concat(known, "x-amz-version-id", version.version);
  const expiration = toExpirationHeader(bucket, version);
  return expiration === undefined ? head : head.concat("x-amz-expiration", expiration);
}

function describe(version: Version, overrides: Readonly<Record<string, string>> | undefined): readonly string[] {
  const { tags } = version;
  const described = { ...(JSON.parse(version.headers) as Record<string, string>), ...overrides };
  const head = [...Object.entries(described).flat(), ...confineActiveContent(described["content-type"])];
  head.push("etag", `"${version.etag}"`);
  head.push("last-modified", new Date(version.modified).toUTCString());
  head.push("accept-ranges", "bytes", ...toLockHeaders(version.lock));
  head.push(...toEncryptionHeaders(version.encryption));
  if (tags !== null && tags !== "{}") {
    head.push("x-amz-tagging-count", String(Object.keys(JSON.parse(tags) as object).length));
  }
  return head;
}

/** What `response-…` parameters ask for; undefined when none does. */
function readOverrides({ request, principal }: OperationContext): Readonly<Record<string, string>> | undefined {
  let overrides: Record<string, string> | undefined;
  for (const [parameter, value] of request.address.query) {
    if (!parameter.startsWith("response-")) {
      continue;
    }
    const name = parameter.slice("response-".length);
    if (OVERRIDES.includes(name)) {
      if (principal.kind === "anonymous") {
        throw new S3Error(
          "InvalidRequest",
          "Request specific response headers cannot be used for anonymous GET requests.",
        );
      }
      if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)) {
        throw new S3Error("InvalidArgument", `response-${name} holds characters that a header cannot.`);
      }
      overrides = { ...overrides, [name]: value };
    }
  }
  return overrides;
}

function withoutType(head: readonly string[]): string[] {
  const at = head.indexOf("content-type");
  return at < 0 ? [...head] : head.toSpliced(at, 2);
}

function wantsChecksum(request: S3Request): boolean {
  return header(request, "x-amz-checksum-mode")?.toUpperCase() === "ENABLED";
}

function chooseRange(
  { request }: OperationContext,
  version: Version,
  content: StoredContent,
  head: string[],
): ByteRange | undefined {
  const part = request.query.get("partNumber");
  if (part === undefined) {
    return version.size === 0 && header(request, "range") === undefined
      ? undefined
      : parseRange(header(request, "range"), version.size);
  }
  if (header(request, "range") !== undefined) {
    throw new S3Error("InvalidRequest", "Cannot specify both Range header and partNumber query parameter.");
  }
  if (!/^\d{1,5}$/.test(part) || Number(part) < 1) {
    throw new S3Error("InvalidArgument", "partNumber must be a whole number from 1 to 10000.");
  }
  if (version.parts !== null) {
    head.push("x-amz-mp-parts-count", String(version.parts));
  }
  let start = 0;
  for (const { number, size, checksum } of "parts" in content ? content.parts : []) {
    if (number === Number(part)) {
      if (checksum !== undefined && version.checksum !== null && wantsChecksum(request)) {
        const { algorithm, type } = JSON.parse(version.checksum) as StoredChecksum;
        head.push(`x-amz-checksum-${algorithm}`, checksum, "x-amz-checksum-type", type);
      }
      return { start, end: start + size - 1 };
    }
    start += size;
  }
  if (version.parts === null) {
    if (Number(part) > 1) {
      throw new S3Error("InvalidPartNumber", undefined, {
        details: { PartNumberRequested: part, ActualPartCount: 1 },
      });
    }
    return version.size === 0 ? undefined : { start: 0, end: version.size - 1 };
  }
  throw new S3Error("InvalidPart", "The requested partnumber is not satisfiable");
}
