import { ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";

import { displayUrl } from "../display-url.ts";
import { StagingError } from "../errors.ts";
import { type ObjectRequests, createObjectRequests } from "../object-requests.ts";
import { toS3Failure } from "../s3-failure.ts";
import { createS3Client } from "../s3-client.ts";
import type { S3Access, SourceAccess, StageInLimits } from "../types.ts";
import { readObjectChecksum } from "./checksums.ts";
import type { OpenRequest, OpenedSource } from "./opened-source.ts";
import { optional, parseContentRange } from "./response-headers.ts";

export interface S3Source {
  /** @param asCaller whether buckets that are the caller's own may be opened */
  readonly open: (request: OpenRequest, asCaller: boolean) => Promise<OpenedSource>;
  /**
   * Whether the caller may read an object, or objects of a folder, as far as its address says.
   * @throws {StagingError} when not
   */
  readonly checkAccess: (href: string) => Promise<void>;
  readonly isPrivate: (href: string) => boolean;
  /** Whether the bucket is one that is read here. */
  readonly isKnown: (href: string) => boolean;
  /** Keys below a prefix (`s3://bucket/folder/`), at most `limits.maxFiles`. */
  readonly list: (href: string, signal: AbortSignal) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

/** Opens `s3://bucket/key` in the object store that is configured for the bucket. */
export function createS3Source(access: SourceAccess, limits: StageInLimits): S3Source {
  const options = { connections: limits.parallel + 1, stallSeconds: limits.stallSeconds };
  const opened = new Map<S3Access, { readonly client: S3Client; readonly requests: ObjectRequests }>();
  const find = (bucket: string) => access.s3.find(({ buckets }) => buckets === undefined || buckets.includes(bucket));
  const findReadable = (bucket: string, href: string): S3Access => {
    const found = find(bucket);
    if (found === undefined) {
      const readable = access.s3.flatMap(({ buckets = [] }) => buckets).join(", ") || "none";
      throw new StagingError(
        "access",
        href,
        `the bucket "${bucket}" is not one that you can read here (${readable}); a signed address of the object can be fetched`,
      );
    }
    return found;
  };
  const checkObject = async (store: S3Access | undefined, key: string, href: string): Promise<void> => {
    if (store?.mayRead !== undefined && !(await store.mayRead(key))) {
      throw new StagingError("access", href, "is the result of a job that is not yours, or no more");
    }
  };
  const storeOf = (bucket: string, href: string) => {
    const found = findReadable(bucket, href);
    const store = opened.get(found) ?? {
      client: createS3Client(found, options),
      requests: createObjectRequests(found, options),
    };
    opened.set(found, store);
    return store;
  };
  const get = async ({ href, start = 0, validator, signal }: OpenRequest): Promise<OpenedSource> => {
    const { bucket, key } = parseS3Url(href);
    const isPart = start > 0 && validator !== undefined;
    const headers = isPart ? { range: `bytes=${start}-`, "if-match": validator } : { "x-amz-checksum-mode": "ENABLED" };
    const { header, body } = await storeOf(bucket, href).requests.send({ method: "GET", bucket, key, headers, signal });
    const range = parseContentRange(header("content-range"));
    const length = header("content-length");
    const total = range === undefined ? (length === undefined ? undefined : Number(length)) : range.total;
    const encoding = header("content-encoding");
    const checksum = readObjectChecksum(header);
    return {
      href,
      start: range?.start ?? 0,
      body,
      ...(total !== undefined && { total }),
      ...optional("validator", header("etag")),
      ...(checksum !== undefined && { checksum }),
      ...optional("mediaType", header("content-type")),
      ...optional("lastModified", header("last-modified")),
      ...(isEncoded(encoding) && { encoding }),
    };
  };
  return {
    checkAccess: async (href) => {
      const { bucket, key } = parseS3Url(href);
      const store = findReadable(bucket, href);
      // A folder may hold what the caller may read beside what not.
      if (!key.endsWith("/")) {
        await checkObject(store, key, href);
      }
    },
    isKnown: (href) => find(parseS3Url(href).bucket) !== undefined,
    isPrivate: (href) => find(parseS3Url(href).bucket)?.isPrivate === true,
    open: async (requested, asCaller) => {
      const { bucket, key } = parseS3Url(requested.href);
      const store = find(bucket);
      await checkObject(store, key, requested.href);
      if (!asCaller && store?.isPrivate === true) {
        const where = displayUrl(requested.from ?? "");
        throw new StagingError(
          "access",
          requested.href,
          `is private, and ${where} may not send a job there; name the object itself as an input`,
        );
      }
      try {
        return await get(requested);
      } catch (error) {
        const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
        if ((status === 412 || status === 416) && requested.start !== undefined) {
          // The object is another one by now: from its beginning.
          const { start: _start, validator: _validator, ...whole } = requested;
          return get(whole).catch((again: unknown) => {
            throw requested.signal.aborted ? requested.signal.reason : toS3Failure(again, "source", requested.href);
          });
        }
        throw requested.signal.aborted ? requested.signal.reason : toS3Failure(error, "source", requested.href);
      }
    },
    list: async (href, signal) => {
      const { bucket, key: prefix } = parseS3Url(href);
      const mayRead = find(bucket)?.mayRead;
      const keys: string[] = [];
      let token: string | undefined;
      do {
        const page = await storeOf(bucket, href)
          .client.send(
            new ListObjectsV2Command({
              Bucket: bucket,
              Prefix: prefix,
              ...(token !== undefined && { ContinuationToken: token }),
            }),
            { abortSignal: signal },
          )
          .catch((error: unknown) => {
            throw signal.aborted ? signal.reason : toS3Failure(error, "source", href);
          });
        for (const { Key: key } of page.Contents ?? []) {
          if (key !== undefined && !key.endsWith("/") && ((await mayRead?.(key)) ?? true)) {
            keys.push(key);
          }
        }
        if (keys.length > limits.maxFiles) {
          throw new StagingError("limit", href, `holds more than the ${limits.maxFiles} files allowed`);
        }
        token = page.NextContinuationToken;
      } while (token !== undefined);
      return keys;
    },
    close: async () => {
      for (const { client, requests } of opened.values()) {
        client.destroy();
        await requests.close();
      }
    },
  };
}

const isEncoded = (encoding: string | undefined): encoding is string =>
  encoding !== undefined && encoding !== "" && encoding !== "identity" && encoding !== "aws-chunked";

/** `s3://bucket/key` as its parts; the key is taken as it is written, without escapes. */
export function parseS3Url(href: string): { readonly bucket: string; readonly key: string } {
  const match = /^s3:\/\/([^/]+)\/(.*)$/s.exec(href);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new StagingError("source", href, "is not an address of an object; write s3://bucket/key");
  }
  return { bucket: match[1], key: match[2] };
}
