import { HeadObjectCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Readable } from "node:stream";

import { OgcError, noSuchJob } from "../errors.ts";
import { type UserStorage, findStorage } from "../execution/storage.ts";
import { createObjectRequests } from "../staging/object-requests.ts";
import { parseS3Url } from "../staging/in/s3-source.ts";
import { mediaTypeOf } from "../staging/out/media-type.ts";
import { createS3Client } from "../staging/s3-client.ts";
import { findJob } from "../store/jobs.ts";
import type { JobResult } from "../store/tables.ts";
import { type ApiContext, type Face, link, spaceOf } from "./context.ts";

const CONNECTION = { connections: 2, stallSeconds: 60 };
/** Milliseconds for which the place of a user's results is remembered: a map asks for many parts of one file. */
const REMEMBERED = 30_000;
/** Files of one job that are listed. */
const MOST_FILES = 10_000;

/** Where the results of one job lie. */
interface Place {
  readonly storage: UserStorage;
  readonly bucket: string;
  /** `processing-results/<job>/` */
  readonly prefix: string;
}

/** The files of a job's results, for clients that have no key of the object storage: a list, and each by its path. */
export function addJobFileRoutes(app: FastifyInstance, context: ApiContext, face: Face): void {
  const tags = ["jobs"];
  const path = `/:user/${face}/jobs/:id/files`;
  const storageOf = rememberStorage(context);

  const findPlace = async (request: FastifyRequest): Promise<Place | undefined> => {
    const { id } = request.params as { id: string };
    const { user } = spaceOf(request, face);
    const job = await findJob(context.db, user, id);
    if (job === undefined) {
      throw noSuchJob(id);
    }
    const uri = (job.result as JobResult | null)?.catalogUri;
    if (uri === undefined) {
      return undefined;
    }
    const { bucket, key } = parseS3Url(uri);
    return { storage: await storageOf(user), bucket, prefix: key.slice(0, key.lastIndexOf("/") + 1) };
  };

  app.get(path, { schema: { tags, summary: "Files of a job's results" } }, async (request) => {
    const place = await findPlace(request);
    const { id } = request.params as { id: string };
    const base = `${spaceOf(request, face).base}/jobs/${id}`;
    const files = place === undefined ? [] : await listFiles(place);
    return {
      files: files.map(({ name, size, updated }) => ({
        path: name,
        href: `${base}/files/${name.split("/").map(encodeURIComponent).join("/")}`,
        type: mediaTypeOf(name),
        size,
        updated,
      })),
      links: [link(`${base}/files`, "self", "Files of the results"), link(base, "up", "The job")],
    };
  });

  app.get(
    `${path}/*`,
    { exposeHeadRoute: false, schema: { tags, summary: "A file of a job's results; parts of it by Range" } },
    async (request, reply) => {
      const { place, key } = await openFile(request, findPlace);
      return sendFile(place, key, request, reply);
    },
  );
  app.head(`${path}/*`, { schema: { hide: true } }, async (request, reply) => {
    const { place, key } = await openFile(request, findPlace);
    const head = await withClient(place, (client) =>
      client.send(new HeadObjectCommand({ Bucket: place.bucket, Key: key })),
    ).catch((error: unknown) => refuse(error, key));
    return reply
      .headers({ ...PROTECTED, "accept-ranges": "bytes", "content-length": head.ContentLength ?? 0, etag: head.ETag })
      .type(head.ContentType ?? mediaTypeOf(key))
      .send();
  });
}

/** Results are strangers' files: a browser must never run them as a page of the platform. */
const PROTECTED = {
  "content-security-policy": "sandbox; default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'",
  "x-content-type-options": "nosniff",
  "cache-control": "private, no-cache",
};

async function openFile(
  request: FastifyRequest,
  findPlace: (request: FastifyRequest) => Promise<Place | undefined>,
): Promise<{ readonly place: Place; readonly key: string }> {
  const { "*": path = "" } = request.params as { "*"?: string };
  const place = await findPlace(request);
  // A key is taken as it is; what looks like a way out of the job's folder is none of its files.
  if (place === undefined || path.split("/").some((part) => part === "" || part === "." || part === "..")) {
    throw noSuchFile(path);
  }
  return { place, key: `${place.prefix}${path}` };
}

async function sendFile(
  place: Place,
  key: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { range, "if-none-match": known } = request.headers;
  const requests = createObjectRequests(place.storage.target, CONNECTION);
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  let body: Readable | undefined;
  try {
    const answer = await requests.send({
      method: "GET",
      bucket: place.bucket,
      key,
      headers: { ...(range !== undefined && { range }), ...(known !== undefined && { "if-none-match": known }) },
      signal: gone.signal,
    });
    body = answer.body;
    body.once("close", () => void requests.close());
    for (const name of ["content-length", "content-range", "etag", "last-modified"]) {
      const value = answer.header(name);
      if (value !== undefined) {
        void reply.header(name, value);
      }
    }
    const { download } = request.query as { download?: string };
    if (download !== undefined) {
      const name = key.slice(key.lastIndexOf("/") + 1);
      void reply.header("content-disposition", `attachment; filename*=UTF-8''${encodeURIComponent(name)}`);
    }
    return await reply
      .code(answer.header("content-range") === undefined ? 200 : 206)
      .headers({ ...PROTECTED, "accept-ranges": "bytes" })
      .type(answer.header("content-type") ?? mediaTypeOf(key))
      .send(body);
  } catch (error) {
    if (body === undefined) {
      await requests.close();
    }
    if ((error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 304) {
      return reply.code(304).send();
    }
    return refuse(error, key);
  }
}

interface StoredFile {
  readonly name: string;
  readonly size: number;
  readonly updated: string | undefined;
}

async function listFiles(place: Place): Promise<readonly StoredFile[]> {
  const { bucket, prefix } = place;
  return withClient(place, async (client) => {
    const files: StoredFile[] = [];
    let token: string | undefined;
    do {
      const page = await client.send(
        new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: prefix,
          ...(token !== undefined && { ContinuationToken: token }),
        }),
      );
      for (const { Key: key = "", Size: size = 0, LastModified: date } of page.Contents ?? []) {
        files.push({ name: key.slice(prefix.length), size, updated: date?.toISOString() });
      }
      token = page.NextContinuationToken;
    } while (token !== undefined && files.length < MOST_FILES);
    return files;
  }).catch((error: unknown) => refuse(error, prefix));
}

async function withClient<Result>(place: Place, work: (client: S3Client) => Promise<Result>): Promise<Result> {
  const client = createS3Client(place.storage.target, CONNECTION);
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
}

function rememberStorage({ settings }: ApiContext): (user: string) => Promise<UserStorage> {
  const known = new Map<string, { readonly until: number; readonly storage: Promise<UserStorage> }>();
  return (user) => {
    const now = Date.now();
    for (const [name, { until }] of known) {
      if (until < now) {
        known.delete(name);
      }
    }
    const entry = known.get(user) ?? { until: now + REMEMBERED, storage: findStorage(settings, user) };
    known.set(user, entry);
    entry.storage.catch(() => known.delete(user));
    return entry.storage;
  };
}

const noSuchFile = (path: string) => new OgcError(404, "NotFound", `The results have no file ${path}.`);

/** @throws {OgcError} 404, 416, 502 */
function refuse(error: unknown, key: string): never {
  const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  if ($metadata?.httpStatusCode === 404) {
    throw noSuchFile(key);
  }
  if ($metadata?.httpStatusCode === 416) {
    throw new OgcError(416, "RangeNotSatisfiable", `${key} has no such part.`);
  }
  throw new OgcError(502, "InternalError", `The object storage does not give ${key}: ${name} ${message}`);
}
