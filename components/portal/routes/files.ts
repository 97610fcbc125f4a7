import { Readable } from "node:stream";

import type { GetObjectCommandInput } from "@aws-sdk/client-s3";
import { Problem } from "@swath/service";
import { type CallerLimits, releaseOnClose } from "@swath/service/caller-limits";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";

import { deleteFolder, listFolder } from "../files/list-folder.ts";
import { moveFiles } from "../files/move-files.ts";
import { areKeysRefused, toStorageProblem } from "../files/problems.ts";
import { searchFiles } from "../files/search-files.ts";
import type { Bucket, WorkspaceStorage } from "../files/workspace-storage.ts";
import { listZipEntries, zipFiles } from "../files/zip-files.ts";
import { type SessionGuard, abortOnDisconnect } from "./context.ts";
import { UNTRUSTED } from "./services.ts";

interface FileDeps {
  readonly sessionGuard: SessionGuard;
  /** Left out where there are no workspaces, or no object storage. */
  readonly storage: WorkspaceStorage | undefined;
  readonly limits: CallerLimits;
}

type Params = { Params: { workspace: string } };
type Request = FastifyRequest<Params>;

const Key = Type.String({ minLength: 1, maxLength: 1024 });
const SearchQuery = Type.Object({
  text: Type.String({ minLength: 1, maxLength: 200 }),
  prefix: Type.Optional(Type.String({ maxLength: 1024 })),
  after: Type.Optional(Type.String({ maxLength: 1024 })),
});
const MoveBody = Type.Object({ from: Key, to: Key }, { additionalProperties: false });
const ZipQuery = Type.Object({ key: Type.Union([Key, Type.Array(Key, { minItems: 1, maxItems: 100 })]) });

const MAX_FILE = 5 * 1024 ** 3;
/** At the same time; a page sends a few files at once. */
const UPLOADS = { name: "uploads", perUser: 20, perAddress: 20, total: 500 };
/** An archive is read, packed and sent for as long as it takes. */
const ARCHIVES = { name: "archives", perUser: 4, perAddress: 4, total: 50 };

/**
 * Files of workspaces:
 *
 *     GET    /api/workspaces/{workspace}/folder?prefix=&after=    a page of a folder
 *     DELETE /api/workspaces/{workspace}/folder?prefix=           a folder with everything in it
 *     GET    /api/workspaces/{workspace}/search?text=&prefix=     files by a part of their names
 *     POST   /api/workspaces/{workspace}/move {from, to}          renames or moves a file, or a folder with its slash
 *     GET    /api/workspaces/{workspace}/zip?key=&key=            files and folders as one archive
 *     GET    /api/workspaces/{workspace}/files/{key}              a file, or a range of it; ?download to have it saved
 *     PUT    /api/workspaces/{workspace}/files/{key}              a file as it comes; If-None-Match: * keeps what is there
 *     DELETE /api/workspaces/{workspace}/files/{key}
 *
 * Each request opens the bucket with the keys that the workspace API gives to who is logged in, so nobody sees here what they
 * could not see without the portal.
 */
export function addFileRoutes(app: FastifyInstance, { sessionGuard, storage, limits }: FileDeps): void {
  const uploads = limits.createPlaces(UPLOADS);
  const archives = limits.createPlaces(ARCHIVES);
  const use = async <T>(
    request: Request,
    reply: FastifyReply,
    work: (bucket: Bucket) => Promise<T>,
    places?: typeof uploads,
  ): Promise<T> => {
    const { verified } = await sessionGuard.enter(request, reply);
    const release = places?.take({ user: verified.identity.userId, address: request.ip });
    if (release !== undefined) {
      // Of an archive too, which is sent after this returns.
      releaseOnClose(reply.raw, release);
    }
    if (storage === undefined) {
      throw new Problem(404, "This deployment has no workspaces with files.");
    }
    const { workspace } = request.params;
    try {
      return await work(await storage.open(workspace, verified.token, request.ip));
    } catch (error) {
      if (!areKeysRefused(error)) {
        throw toStorageProblem(error);
      }
      storage.forget(workspace, verified.token);
      throw new Problem(409, "The keys of the workspace have just been replaced; try again.", { cause: error });
    }
  };

  app.get<Params & { Querystring: { prefix?: string; after?: string } }>(
    "/api/workspaces/:workspace/folder",
    async (request, reply) => {
      const { prefix = "", after } = request.query;
      void reply.header("cache-control", "no-store");
      return use(request, reply, (bucket) => listFolder(bucket, prefix, after));
    },
  );

  app.delete<Params & { Querystring: { prefix?: string } }>(
    "/api/workspaces/:workspace/folder",
    async (request, reply) => {
      const { prefix = "" } = request.query;
      if (!prefix.endsWith("/")) {
        throw new Problem(400, "prefix must end with a slash: it names a folder.");
      }
      return use(request, reply, async (bucket) => ({
        deleted: await deleteFolder(bucket, prefix, abortOnDisconnect(request, reply)),
      }));
    },
  );

  app.get<Params & { Querystring: { prefix?: string; text: string; after?: string } }>(
    "/api/workspaces/:workspace/search",
    { schema: { querystring: SearchQuery } },
    async (request, reply) => {
      const { prefix = "", text, after } = request.query;
      void reply.header("cache-control", "no-store");
      return use(request, reply, (bucket) =>
        searchFiles(bucket, { prefix, text, after }, abortOnDisconnect(request, reply)),
      );
    },
  );

  app.post<Params & { Body: { from: string; to: string } }>(
    "/api/workspaces/:workspace/move",
    { schema: { body: MoveBody } },
    async (request, reply) =>
      use(request, reply, async (bucket) => ({
        moved: await moveFiles(bucket, request.body, abortOnDisconnect(request, reply)),
      })),
  );

  app.get<Params & { Querystring: { key: string | string[] } }>(
    "/api/workspaces/:workspace/zip",
    { schema: { querystring: ZipQuery } },
    async (request, reply) =>
      use(
        request,
        reply,
        async (bucket) => {
          const keys = [request.query.key].flat();
          const signal = abortOnDisconnect(request, reply);
          const entries = await listZipEntries(bucket, keys, signal);
          const [first = ""] = keys;
          const name = keys.length === 1 ? first.replace(/\/$/, "").split("/").at(-1) : request.params.workspace;
          void reply.headers({
            "content-type": "application/zip",
            "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(`${name}.zip`).replaceAll("'", "%27")}`,
            "cache-control": "no-store",
            ...UNTRUSTED,
          });
          return reply.send(Readable.from(zipFiles(bucket, entries, signal)));
        },
        archives,
      ),
  );

  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, ready) => ready(null));
    const path = "/api/workspaces/:workspace/files/*";
    scope.get<Params>(path, (request, reply) =>
      use(request, reply, (bucket) => readFile(bucket, request, reply, abortOnDisconnect(request, reply))),
    );
    scope.put<Params>(path, (request, reply) =>
      use(request, reply, (bucket) => writeFile(bucket, request, abortOnDisconnect(request, reply)), uploads),
    );
    scope.delete<Params>(path, (request, reply) =>
      use(request, reply, async ({ client, name }) => {
        const { DeleteObjectCommand } = await import("@aws-sdk/client-s3");
        await client.send(new DeleteObjectCommand({ Bucket: name, Key: keyOf(request) }));
        return reply.code(204).send();
      }),
    );
    done();
  });
}

/** The key as it was written, once decoded: the router would decode a `+` or an encoded slash otherwise than S3 names do. */
function keyOf(request: Request): string {
  const path = request.url.split("?", 1)[0] ?? "";
  const at = path.indexOf("/files/") + "/files/".length;
  try {
    const key = decodeURIComponent(path.slice(at));
    if (key === "" || Buffer.byteLength(key) > 1024) {
      throw new RangeError();
    }
    return key;
  } catch {
    throw new Problem(400, "The path names no file: a name of 1 to 1024 bytes of UTF-8, percent-encoded.");
  }
}

async function readFile(
  { client, name }: Bucket,
  request: Request,
  reply: FastifyReply,
  abortSignal: AbortSignal,
): Promise<unknown> {
  const key = keyOf(request);
  const { range } = request.headers;
  const { "if-none-match": ifNoneMatch } = request.headers;
  const input: GetObjectCommandInput = {
    Bucket: name,
    Key: key,
    ...(range !== undefined && { Range: range }),
    ...(ifNoneMatch !== undefined && { IfNoneMatch: ifNoneMatch }),
  };
  const { GetObjectCommand, HeadObjectCommand } = await import("@aws-sdk/client-s3");
  const isHead = request.method === "HEAD";
  const found = isHead
    ? await client.send(new HeadObjectCommand(input), { abortSignal })
    : await client.send(new GetObjectCommand(input), { abortSignal });
  const fileName = key.split("/").at(-1) ?? "file";
  const mode = "download" in (request.query as object) ? "attachment" : "inline";
  void reply.code(found.ContentRange === undefined ? 200 : 206).headers({
    "content-type": found.ContentType ?? "application/octet-stream",
    "content-length": found.ContentLength ?? 0,
    "accept-ranges": "bytes",
    ...(found.ContentRange !== undefined && { "content-range": found.ContentRange }),
    ...(found.ETag !== undefined && { etag: found.ETag }),
    ...(found.LastModified !== undefined && { "last-modified": found.LastModified.toUTCString() }),
    "content-disposition": `${mode}; filename*=UTF-8''${encodeURIComponent(fileName).replaceAll("'", "%27")}`,
    // Asked again each time, and mostly answered without the contents.
    "cache-control": "private, no-cache",
    ...UNTRUSTED,
  });
  return reply.send("Body" in found ? (found.Body as Readable) : "");
}

async function writeFile({ client, name }: Bucket, request: Request, abortSignal: AbortSignal): Promise<unknown> {
  const size = Number(request.headers["content-length"]);
  if (!Number.isInteger(size) || size < 0) {
    throw new Problem(411, "A file is sent with its Content-Length.");
  }
  if (size > MAX_FILE) {
    throw new Problem(413, "Files over 5 GiB are sent with an S3 program, in parts; the workspace page shows how.");
  }
  const { PutObjectCommand } = await import("@aws-sdk/client-s3");
  const done = await client.send(
    new PutObjectCommand({
      Bucket: name,
      Key: keyOf(request),
      Body: size === 0 ? "" : request.raw,
      ContentLength: size,
      ContentType: request.headers["content-type"] ?? "application/octet-stream",
      ...(request.headers["if-none-match"] === "*" && { IfNoneMatch: "*" }),
    }),
    { abortSignal },
  );
  return { key: keyOf(request), size, etag: done.ETag };
}
