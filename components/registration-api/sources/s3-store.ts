import { createS3Signer, toObjectUrl } from "@swath/s3";
import { parsePeerUrl } from "@swath/service";
import { XmlError, parseLargeNamed } from "@swath/xml";
import { Agent } from "undici";

import { RegistrationError } from "../queue/errors.ts";
import { collectBody } from "./collect-body.ts";
import { decodeBody } from "./decode-body.ts";
import { readValidators, toConditions } from "./validators.ts";
import type { ListedObject, ReadOptions, SourceDocument, StoreSettings } from "./source-types.ts";

export interface S3Store {
  readonly get: (
    bucket: string,
    key: string,
    options: Pick<ReadOptions, "signal" | "maxBytes" | "ifChangedFrom" | "isHead">,
  ) => Promise<SourceDocument>;
  readonly list: (bucket: string, prefix: string, signal: AbortSignal) => AsyncGenerator<ListedObject>;
  /** Has a bucket tell a webhook of what is put and removed, beside what it tells others. */
  readonly notify: (bucket: string, target: string, signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
}

const TIMEOUT_MS = 120_000;
const NOTIFIED_EVENTS = ["s3:ObjectCreated:*", "s3:ObjectRemoved:*", "s3:LifecycleExpiration:*"];
const LISTING = { ignoreAttributes: true, keepSpace: true, controlReferences: true };

/** Reads objects and lists of an S3 storage, with signed requests (Signature Version 4) and path-style addresses. */
export function createS3Store({ url, region, accessKeyId, secretAccessKey }: StoreSettings): S3Store {
  const { origin, prefix: base, socketPath } = parsePeerUrl(url);
  const agent = new Agent({
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
    connections: 8,
    ...(socketPath !== undefined && { connect: { socketPath } }),
  });
  const signer = accessKeyId === "" ? undefined : createS3Signer({ accessKeyId, secretAccessKey, region });
  const send = async (
    { bucket, key, query }: { readonly bucket: string; readonly key?: string; readonly query?: Record<string, string> },
    signal: AbortSignal,
    where: string,
    {
      put,
      conditions = {},
      isHead = false,
    }: { readonly put?: string; readonly conditions?: Record<string, string>; readonly isHead?: boolean } = {},
  ) => {
    const method = isHead ? "HEAD" : put === undefined ? "GET" : "PUT";
    const address = toObjectUrl({ endpoint: `${origin}${base}`, bucket, key, query });
    const headers = { ...conditions, ...(put !== undefined && { "content-type": "application/xml" }) };
    // Not by a URL object: it would take the dots out of keys such as a/../b.
    const sending = agent.request({
      origin,
      path: address.slice(origin.length),
      method,
      ...(put !== undefined && { body: put }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: signer === undefined ? headers : await signer.sign({ method, url: address, headers }),
    });
    const response = await sending.catch((error: unknown) => {
      throw signal.aborted
        ? error
        : new RegistrationError(`The storage of ${where} does not answer: ${(error as Error).message}.`, {
            isTransient: true,
            cause: error,
          });
    });
    const isUnchanged = response.statusCode === 304 && Object.keys(conditions).length > 0;
    if (response.statusCode !== 200 && !isUnchanged) {
      const text = (await collectBody(response.body, where, 65_536)).toString();
      const code = /<Code>([^<]{1,100})<\/Code>/.exec(text)?.[1] ?? "";
      throw new RegistrationError(
        `${where} cannot be ${put === undefined ? "read" : "watched"}: the storage answered ${response.statusCode} ${code}.`,
        {
          isTransient: response.statusCode >= 500 || response.statusCode === 429,
          isGone: response.statusCode === 404,
        },
      );
    }
    return response;
  };
  return {
    get: async (bucket, key, { signal, maxBytes, ifChangedFrom, isHead = false }) => {
      const where = `s3://${bucket}/${key}`;
      const { body, headers, statusCode } = await send({ bucket, key }, signal, where, {
        conditions: toConditions(ifChangedFrom),
        isHead,
      });
      if (statusCode === 304) {
        await body.dump();
        return { href: where, bytes: Buffer.alloc(0), contentType: "", isUnchanged: true };
      }
      return {
        href: where,
        bytes: await collectBody(decodeBody(body, headers["content-encoding"], where), where, maxBytes),
        contentType: String(headers["content-type"] ?? ""),
        ...readValidators(headers),
      };
    },
    list: async function* (bucket, prefix, signal) {
      let token: string | undefined;
      do {
        const query = { "list-type": "2", prefix, ...(token !== undefined && { "continuation-token": token }) };
        const { body } = await send({ bucket, query }, signal, `s3://${bucket}/${prefix}`);
        const text = (await collectBody(body, `s3://${bucket}/${prefix}`)).toString();
        const page = await readPage(text, `s3://${bucket}/${prefix}`);
        for (const { Key: key = "", ETag: etag = "", Size: size = "0" } of [page.Contents ?? []].flat()) {
          yield { key, etag: etag.replaceAll('"', ""), size: Number(size) };
        }
        token = page.IsTruncated === "true" ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
    },
    notify: async (bucket, target, signal) => {
      const settings = { bucket, query: { notification: "" } };
      const where = `s3://${bucket}`;
      const { body } = await send(settings, signal, where);
      const text = (await collectBody(body, where)).toString();
      if (text.includes(`:${target}</Topic>`)) {
        return;
      }
      const kept = /<NotificationConfiguration[^>]*[^/]>(.*)<\/NotificationConfiguration>/s.exec(text)?.[1] ?? "";
      const events = NOTIFIED_EVENTS.map((event) => `<Event>${event}</Event>`).join("");
      const own = `<TopicConfiguration><Id>${target}</Id><Topic>arn:aws:sns:${region}::${target}</Topic>${events}</TopicConfiguration>`;
      const requested = `<NotificationConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${kept}${own}</NotificationConfiguration>`;
      await (await send(settings, signal, where, { put: requested })).body.dump();
    },
    close: () => agent.destroy(),
  };
}

/** @throws {RegistrationError} for an answer that is not XML */
async function readPage(text: string, where: string): Promise<ListPage> {
  try {
    return (await parseLargeNamed(text, LISTING)).value as ListPage;
  } catch (error) {
    throw error instanceof XmlError
      ? new RegistrationError(`${where} cannot be listed: the storage's answer ${error.message}.`, { cause: error })
      : error;
  }
}

interface ListedContent {
  readonly Key?: string;
  readonly ETag?: string;
  readonly Size?: string;
}

interface ListPage {
  /** One alone is no array. */
  readonly Contents?: ListedContent | readonly ListedContent[];
  readonly IsTruncated?: string;
  readonly NextContinuationToken?: string;
}
