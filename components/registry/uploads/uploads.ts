import { type Hash, createHash, randomUUID } from "node:crypto";
import { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import { consumeChunks } from "@swath/service";

import type { BlobStore, BlobWriter } from "../blobs/blob-store.ts";
import type { Holder } from "../access/caller.ts";
import { RegistryError } from "../errors.ts";
import type { Digest, DigestAlgorithm } from "../protocol/digest.ts";
import type { ByteRange } from "../protocol/range.ts";
import type { RegistryDatabase } from "../store/database.ts";
import { addBlob, discard, linkBlob } from "../store/links.ts";
import { type Project, checkQuota, findProjectById, lockProject, quotaExceeded } from "../store/projects.ts";
import { ensureRepository } from "../store/repositories.ts";
import {
  type Upload,
  deleteUpload,
  findUpload,
  insertUpload,
  leaseUpload,
  releaseUpload,
  renewLeases,
  saveUpload,
  sumUploads,
} from "../store/uploads.ts";

export interface UploadsDeps {
  readonly database: RegistryDatabase;
  readonly blobs: BlobStore;
  /** Seconds that a finished blob is kept for the manifest that will refer to it. */
  readonly pushSeconds: number;
  readonly onError: (error: unknown) => void;
}

/** Resumable uploads: what was acknowledged is durable, whichever replica goes on with it. */
export interface Uploads {
  readonly start: (options: {
    readonly project: string;
    readonly repository: string;
    readonly algorithm: DigestAlgorithm;
    readonly actor: string;
  }) => Promise<string>;
  /** Bytes that are there. @throws {RegistryError} BLOB_UPLOAD_UNKNOWN */
  readonly status: (repository: string, id: string) => Promise<number>;
  /** Appends a chunk and gives how many bytes there are then. */
  readonly append: (target: UploadTarget, body: Readable, range: ByteRange | undefined) => Promise<number>;
  /** Appends the last chunk, which may be empty, and makes the upload a blob of the repository. */
  readonly finish: (
    target: UploadTarget & { readonly holder: Holder; readonly digest: Digest },
    body: Readable,
    range: ByteRange | undefined,
  ) => Promise<void>;
  readonly cancel: (target: UploadTarget) => Promise<void>;
  readonly close: () => void;
}

export interface UploadTarget {
  readonly repository: string;
  readonly id: string;
}

/** A digest of the bytes so far, of an upload that this process has seen from its start. */
interface RunningHash {
  readonly hash: Hash;
  readonly algorithm: DigestAlgorithm;
  readonly received: number;
}

interface Session {
  readonly upload: Upload;
  readonly project: Project;
  readonly writer: string;
}

const MAX_RUNNING_HASHES = 10_000;
const RENEW_INTERVAL_MS = 5000;
/** Longer than a lease lasts: the writer before may have been killed. */
const LEASE_TIMEOUT_MS = 20_000;
const LEASE_POLL_MS = 100;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function createUploads(deps: UploadsDeps): Uploads {
  const { database, blobs } = deps;
  const running = new Map<string, RunningHash>();
  const writers = new Set<string>();
  const timer = setInterval(() => {
    if (writers.size > 0) {
      renewLeases(database, [...writers]).catch(deps.onError);
    }
  }, RENEW_INTERVAL_MS);
  timer.unref();

  const find = async ({ repository, id }: UploadTarget) => {
    const upload = UUID.test(id) ? await findUpload(database, repository, id) : undefined;
    if (upload === undefined) {
      throw unknownUpload(id);
    }
    return upload;
  };

  /** Runs `work` as the only writer of an upload. */
  const withSession = async <T>(target: UploadTarget, work: (session: Session) => Promise<T>): Promise<T> => {
    const { id, projectId } = await find(target);
    const writer = randomUUID();
    const upload = await lease(database, target, writer);
    writers.add(writer);
    try {
      const project = await findProjectById(database, projectId);
      if (project === undefined) {
        throw unknownUpload(id);
      }
      return await work({ upload, project, writer });
    } finally {
      writers.delete(writer);
      await releaseUpload(database, id, writer);
    }
  };

  const takeHash = ({ id, received, algorithm }: Upload): Hash | undefined => {
    const known = running.get(id);
    running.delete(id);
    return received === 0
      ? createHash(algorithm)
      : known?.received === received && known.algorithm === algorithm
        ? known.hash
        : undefined;
  };
  const keepHash = ({ id, algorithm }: Upload, hash: Hash | undefined, received: number) => {
    if (hash !== undefined) {
      running.set(id, { hash, algorithm, received });
      for (const oldest of running.keys().take(Math.max(0, running.size - MAX_RUNNING_HASHES))) {
        running.delete(oldest);
      }
    }
  };
  const discardUpload = (id: string, writer: string) =>
    database.transact(async (tx) => {
      if (await deleteUpload(tx, id, writer)) {
        await discard(tx, [id]);
      }
    });

  return {
    start: async ({ project: name, repository, algorithm, actor }) => {
      const id = randomUUID();
      await database.transact(async (tx) => {
        const project = await lockProject(tx, name);
        if (project.quotaBytes !== null && project.usedBytes >= project.quotaBytes) {
          throw quotaExceeded(project, 1);
        }
        const repositoryId = await ensureRepository(tx, project, repository);
        await insertUpload(tx, { id, repositoryId, projectId: project.id, algorithm, createdBy: actor });
      });
      return id;
    },
    status: async (repository, id) => (await find({ repository, id })).received,
    append: (target, body, range) =>
      withSession(target, async ({ upload, project, writer: leaseOf }) => {
        checkPosition(upload, range);
        const hash = takeHash(upload);
        const writer = await blobs.openWriter(upload);
        try {
          const limit = await findHeadroom(database, project, upload);
          const copied = await copy(body, { writer, hash, range, limit, received: upload.received, project });
          // Also what came before a connection broke: the client asks for the status and goes on from there.
          const state = await writer.pause();
          if (!(await saveUpload(database, { id: upload.id, writer: leaseOf, received: copied.received, state }))) {
            throw unknownUpload(upload.id);
          }
          keepHash(upload, hash, copied.received);
          if (copied.error !== undefined) {
            throw copied.error;
          }
          return copied.received;
        } finally {
          await writer.close();
        }
      }),
    finish: (target, body, range) =>
      withSession(target, async ({ upload, project, writer: leaseOf }) => {
        checkPosition(upload, range);
        const { digest } = target;
        const hash = takeHash(upload);
        const writer = await blobs.openWriter(upload);
        let size: number;
        try {
          const limit = await findHeadroom(database, project, upload);
          const copied = await copy(body, { writer, hash, range, limit, received: upload.received, project });
          if (copied.error !== undefined) {
            const state = await writer.pause();
            await saveUpload(database, { id: upload.id, writer: leaseOf, received: copied.received, state });
            keepHash(upload, hash, copied.received);
            throw copied.error;
          }
          size = copied.received;
          await writer.finish();
        } finally {
          await writer.close();
        }
        const found =
          hash !== undefined && upload.algorithm === digest.algorithm
            ? hash.digest("hex")
            : await hashContent(blobs, upload.id, size, digest.algorithm);
        if (`${digest.algorithm}:${found}` !== digest.text) {
          await discardUpload(upload.id, leaseOf);
          throw new RegistryError("DIGEST_INVALID", "The digest does not match the uploaded content.", {
            detail: { digest: digest.text, found: `${digest.algorithm}:${found}` },
          });
        }
        try {
          await database.transact(async (tx) => {
            const locked = await lockProject(tx, project.name);
            if (!(await deleteUpload(tx, upload.id, leaseOf))) {
              throw unknownUpload(upload.id);
            }
            await addBlob(tx, { digest: digest.text, size, storageId: upload.id });
            const pin = {
              repositoryId: upload.repositoryId,
              digest: digest.text,
              holder: target.holder,
              seconds: deps.pushSeconds,
            };
            await linkBlob(tx, project.id, pin);
            await checkQuota(tx, locked);
          });
          if (upload.state !== undefined) {
            // Where this fails it goes with the blob.
            await blobs.tidy?.(upload.state).catch(deps.onError);
          }
        } catch (error) {
          if (error instanceof RegistryError && error.code === "DENIED") {
            await discardUpload(upload.id, leaseOf);
          }
          throw error;
        }
      }),
    cancel: (target) => withSession(target, ({ upload, writer }) => discardUpload(upload.id, writer)),
    close: () => clearInterval(timer),
  };
}

async function lease(database: RegistryDatabase, target: UploadTarget, writer: string): Promise<Upload> {
  for (const until = Date.now() + LEASE_TIMEOUT_MS; ; await sleep(LEASE_POLL_MS)) {
    const upload = await leaseUpload(database, target.id, writer);
    if (upload !== undefined) {
      return upload;
    }
    if ((await findUpload(database, target.repository, target.id)) === undefined) {
      throw unknownUpload(target.id);
    }
    if (Date.now() > until) {
      throw new RegistryError("BLOB_UPLOAD_INVALID", "Another request is writing to this upload; wait for its end.", {
        status: 409,
      });
    }
  }
}

/** @throws {RegistryError} RANGE_INVALID when a chunk does not begin where the last one ended */
function checkPosition({ received }: Upload, range: ByteRange | undefined): void {
  if (range !== undefined && range.start !== received) {
    throw new RegistryError(
      "RANGE_INVALID",
      `The chunk begins at ${range.start}; the upload has ${received} bytes, so it must begin at ${received}.`,
    );
  }
}

/** `Range` of an upload: what is there. */
export function toUploadRange(received: number): string {
  return `0-${Math.max(0, received - 1)}`;
}

/** Bytes that an upload may still get by the project's quota. */
async function findHeadroom(database: RegistryDatabase, project: Project, upload: Upload): Promise<number> {
  if (project.quotaBytes === null) {
    return Infinity;
  }
  const pending = (await sumUploads(database, project.id)) - upload.received;
  return project.quotaBytes - project.usedBytes - pending - upload.received;
}

interface CopyOptions {
  readonly writer: BlobWriter;
  readonly hash: Hash | undefined;
  readonly range: ByteRange | undefined;
  readonly limit: number;
  readonly received: number;
  readonly project: Project;
}

/** Copies a body into the store; gives how far it came, and why not further when the fault is the sender's. */
async function copy(
  body: Readable,
  { writer, hash, range, limit, received, project }: CopyOptions,
): Promise<{ readonly received: number; readonly error: RegistryError | undefined }> {
  const expected = range === undefined ? Infinity : range.end - range.start + 1;
  let bytes = 0;
  let writing: Promise<void> | undefined;
  const cutShort = new RegistryError(
    "BLOB_UPLOAD_INVALID",
    "The body ended early; ask for the status and go on from there.",
  );
  let error: RegistryError | undefined;
  try {
    await consumeChunks(
      body,
      (chunk) => {
        if (bytes + chunk.length > limit) {
          throw quotaExceeded(project, bytes + chunk.length);
        }
        if (bytes + chunk.length > expected) {
          throw new RegistryError("SIZE_INVALID", "The chunk is longer than its Content-Range says.");
        }
        hash?.update(chunk);
        bytes += chunk.length;
        writing = writer.write(chunk);
        return writing;
      },
      // What comes for a client as well is not this upload's alone.
      { detachAfterUse: body instanceof IncomingMessage, cutShort: () => cutShort },
    );
  } catch (cause) {
    // A store that fails is no fault of the sender's.
    if (!(cause instanceof RegistryError) && !isDisconnect(cause)) {
      throw cause;
    }
    error = cause instanceof RegistryError ? cause : cutShort;
  }
  await writing;
  if (error === undefined && bytes < expected && expected !== Infinity) {
    error = new RegistryError("SIZE_INVALID", "The chunk is shorter than its Content-Range says.");
  }
  return { received: received + bytes, error };
}

function isDisconnect(error: unknown): boolean {
  return ["ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE", "EPIPE"].includes((error as { code?: string }).code ?? "");
}

/** Reads content back: nobody has seen it whole, or its digest is of another algorithm than was expected. */
async function hashContent(blobs: BlobStore, id: string, size: number, algorithm: DigestAlgorithm): Promise<string> {
  const hash = createHash(algorithm);
  if (size > 0) {
    for await (const chunk of await blobs.read(id, { start: 0, end: size - 1 })) {
      hash.update(chunk as Buffer);
    }
  }
  return hash.digest("hex");
}

function unknownUpload(id: string): RegistryError {
  return new RegistryError("BLOB_UPLOAD_UNKNOWN", "The upload is unknown; start a new one.", {
    detail: { upload: id.slice(0, 64) },
  });
}
