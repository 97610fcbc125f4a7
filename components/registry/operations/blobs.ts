import { pipeline } from "node:stream/promises";

import { RegistryError } from "../errors.ts";
import { parseDigest } from "../protocol/digest.ts";
import { projectOf } from "../protocol/names.ts";
import { parseRange } from "../protocol/range.ts";
import { addAudit } from "../store/audit.ts";
import { findLinkedBlob, pinBlob, unlinkUnused } from "../store/links.ts";
import { lockProject } from "../store/projects.ts";
import { findRepository } from "../store/repositories.ts";
import { type OperationContext, sendEmpty } from "./operation.ts";

interface BlobTarget {
  readonly name: string;
  readonly digest: string;
}

/** GET and HEAD of a blob (end-2); Range on GET. */
export async function getBlob(context: OperationContext, { name, digest: text }: BlobTarget): Promise<void> {
  const { deps, caller, message, response, method } = context;
  // Who may push has to find out what is there.
  await caller.require(name, "pull", ...(method === "HEAD" ? (["push"] as const) : []));
  const digest = parseDigest(text).text;
  let blob = await findLinkedBlob(deps.database, name, digest);
  if (blob === undefined && method === "HEAD") {
    const size = await deps.cache.findBlob(name, digest);
    if (size !== undefined) {
      response.writeHead(200, { "content-length": size, "docker-content-digest": digest });
      response.end();
      return;
    }
  } else if (blob === undefined) {
    if (await deps.cache.sendBlob(name, digest, response)) {
      return;
    }
    blob = await findLinkedBlob(deps.database, name, digest);
  }
  if (blob === undefined || (method === "HEAD" && !(await holdForPush(context, name, digest)))) {
    throw unknownBlob(digest);
  }
  const headers = {
    "content-type": "application/octet-stream",
    "docker-content-digest": digest,
    etag: `"${digest}"`,
    "cache-control": "private, max-age=31536000",
    "accept-ranges": "bytes",
  };
  if (method === "HEAD") {
    response.writeHead(200, { ...headers, "content-length": blob.size });
    response.end();
    return;
  }
  if (message.headers["if-none-match"]?.includes(digest) === true) {
    sendEmpty(response, 304, { etag: headers.etag });
    return;
  }
  if (deps.redirects && deps.blobs.presign !== undefined) {
    sendEmpty(response, 307, { location: await deps.blobs.presign(blob.storageId), "docker-content-digest": digest });
    return;
  }
  const range = blob.size === 0 ? undefined : parseRange(message.headers.range, blob.size);
  const { start, end } = range ?? { start: 0, end: blob.size - 1 };
  const { send } = deps.blobs;
  const isRead = blob.size > 0 && send === undefined;
  const content = isRead ? await deps.blobs.read(blob.storageId, { start, end }) : undefined;
  response.writeHead(range === undefined ? 200 : 206, {
    ...headers,
    "content-length": end - start + 1,
    ...(range && { "content-range": `bytes ${start}-${end}/${blob.size}` }),
  });
  if (blob.size === 0) {
    response.end();
  } else if (content === undefined) {
    await deps.blobs.send?.(blob.storageId, { start, end }, response);
  } else {
    await pipeline(content, response);
  }
}

/** A push that finds a blob relies on it until its manifest comes. False when it has just gone. */
async function holdForPush({ deps, caller }: OperationContext, name: string, digest: string): Promise<boolean> {
  if (caller.isAnonymous || !(await caller.can(name, "push"))) {
    return true;
  }
  return pinBlob(deps.database, name, { digest, holder: caller.holder, seconds: deps.pushSeconds });
}

/**
 * Takes a blob out of a repository (end-10). One that a manifest refers to stays: no manifest ever lacks a blob.
 * @throws {RegistryError} BLOB_UNKNOWN, UNSUPPORTED while it is used
 */
export async function deleteBlob(
  { deps, caller, response }: OperationContext,
  { name, digest: text }: BlobTarget,
): Promise<void> {
  await caller.require(name, "delete");
  const digest = parseDigest(text).text;
  await deps.database.transact(async (tx) => {
    const project = await lockProject(tx, projectOf(name));
    const repository = await findRepository(tx, name);
    if (repository === undefined || (await findLinkedBlob(tx, name, digest)) === undefined) {
      throw unknownBlob(digest);
    }
    // Other pushes may still rely on it; the one that deletes does not.
    await tx.query("delete from pin where repository_id = $1 and digest = $2", [repository.id, digest]);
    if ((await unlinkUnused(tx, repository.id, [digest])) === 0) {
      throw new RegistryError(
        "UNSUPPORTED",
        "The blob belongs to a manifest; delete that one, and the blob goes with it.",
        {
          detail: { digest },
        },
      );
    }
    await addAudit(tx, {
      actor: caller.name,
      operation: "delete",
      project: project.name,
      resourceType: "blob",
      resource: `${name}@${digest}`,
    });
  });
  sendEmpty(response, 202);
}

export function unknownBlob(digest: string): RegistryError {
  return new RegistryError("BLOB_UNKNOWN", "The blob is unknown to the repository.", { detail: { digest } });
}
