import { findRights } from "../access/principal.ts";
import { RegistryError } from "../errors.ts";
import { parseAlgorithm, parseDigest } from "../protocol/digest.ts";
import { isRepositoryName, projectOf } from "../protocol/names.ts";
import { parseContentRange } from "../protocol/range.ts";
import { findLinkedBlob, linkBlob } from "../store/links.ts";
import { checkQuota, findProject, lockProject, refuseCache } from "../store/projects.ts";
import { ensureRepository } from "../store/repositories.ts";
import { toUploadRange } from "../uploads/uploads.ts";
import { type OperationContext, limitedCaller, sendEmpty } from "./operation.ts";

const MAX_MOUNT_SOURCES = 50;

/** POST of an upload: starts one (end-4a), takes a whole blob (end-4b), or mounts one of another repository (end-11). */
export async function startUpload(context: OperationContext, { name }: { readonly name: string }): Promise<void> {
  const { deps, caller, message, response, query } = context;
  const mount = query.get("mount");
  const from = query.get("from");
  await caller.requirePush(name, mount !== null && from !== null && isRepositoryName(from) ? from : undefined);
  deps.uploadStarts.count(limitedCaller(context));
  await refuseCache(deps.database, name);
  if (mount !== null && (await mountBlob(context, name, parseDigest(mount).text, from))) {
    sendBlobCreated(context, name, mount);
    return;
  }
  const whole = query.get("digest");
  const digest = whole === null ? undefined : parseDigest(whole);
  const algorithm = digest?.algorithm ?? parseAlgorithm(query.get("digest-algorithm") ?? "sha256");
  const id = await deps.uploads.start({ project: projectOf(name), repository: name, algorithm, actor: caller.name });
  if (digest === undefined) {
    message.resume();
    sendEmpty(response, 202, uploadHeaders(name, id, 0));
    return;
  }
  await receive(context, () =>
    deps.uploads.finish({ repository: name, id, digest, holder: caller.holder }, message, undefined),
  );
  sendBlobCreated(context, name, digest.text);
}

/** PATCH of an upload (end-5). */
export async function appendUpload(context: OperationContext, { name, id }: UploadPath): Promise<void> {
  const { deps, caller, message, response } = context;
  await caller.require(name, "push");
  const received = await receive(context, () =>
    withPosition(context, { name, id }, () =>
      deps.uploads.append({ repository: name, id }, message, parseContentRange(message.headers["content-range"])),
    ),
  );
  sendEmpty(response, 202, uploadHeaders(name, id, received));
}

/** PUT of an upload (end-6). */
export async function finishUpload(context: OperationContext, { name, id }: UploadPath): Promise<void> {
  const { deps, caller, message, query } = context;
  await caller.require(name, "push");
  const digest = parseDigest(query.get("digest") ?? "");
  await receive(context, () =>
    withPosition(context, { name, id }, () =>
      deps.uploads.finish(
        { repository: name, id, digest, holder: caller.holder },
        message,
        parseContentRange(message.headers["content-range"]),
      ),
    ),
  );
  sendBlobCreated(context, name, digest.text);
}

/** Adds to a refusal of a chunk (416) where the upload is and what it has, from where the client goes on. */
async function withPosition<T>(
  { deps }: OperationContext,
  { name, id }: UploadPath,
  take: () => Promise<T>,
): Promise<T> {
  try {
    return await take();
  } catch (error) {
    if (!(error instanceof RegistryError) || error.status !== 416) {
      throw error;
    }
    const headers = uploadHeaders(name, id, await deps.uploads.status(name, id));
    throw new RegistryError(error.code, error.message, { status: error.status, headers, cause: error });
  }
}

/** Takes the body of an upload in one of its caller's places. @throws {Problem} 429, 503 */
async function receive<T>(context: OperationContext, take: () => Promise<T>): Promise<T> {
  const release = context.deps.uploadPlaces.take(limitedCaller(context));
  try {
    return await take();
  } finally {
    release();
  }
}

/** GET of an upload (end-13): how far it is. */
export async function getUpload({ deps, caller, response }: OperationContext, { name, id }: UploadPath): Promise<void> {
  await caller.require(name, "push");
  sendEmpty(response, 204, uploadHeaders(name, id, await deps.uploads.status(name, id)));
}

/** DELETE of an upload (end-14). */
export async function cancelUpload(
  { deps, caller, response }: OperationContext,
  { name, id }: UploadPath,
): Promise<void> {
  await caller.require(name, "push");
  await deps.uploads.cancel({ repository: name, id });
  sendEmpty(response, 204);
}

interface UploadPath {
  readonly name: string;
  readonly id: string;
}

function uploadHeaders(name: string, id: string, received: number): Readonly<Record<string, string>> {
  return {
    location: `/v2/${name}/blobs/uploads/${id}`,
    range: toUploadRange(received),
    "docker-upload-uuid": id,
  };
}

function sendBlobCreated({ response }: OperationContext, name: string, digest: string): void {
  sendEmpty(response, 201, { location: `/v2/${name}/blobs/${digest}`, "docker-content-digest": digest });
}

/**
 * Links a blob of a repository that the caller may pull from. False when there is none, which looks the same whether the blob does not
 * exist or is somebody else's.
 */
async function mountBlob(
  context: OperationContext,
  name: string,
  digest: string,
  from: string | null,
): Promise<boolean> {
  const { deps, caller } = context;
  if (from !== null && !isRepositoryName(from)) {
    return false;
  }
  if (!(await isReadable(context, { name, digest, from }))) {
    return false;
  }
  return deps.database.transact(async (tx) => {
    const project = await lockProject(tx, projectOf(name));
    const repositoryId = await ensureRepository(tx, project, name);
    const isLinked = await linkBlob(tx, project.id, {
      repositoryId,
      digest,
      holder: caller.holder,
      seconds: deps.pushSeconds,
    });
    await checkQuota(tx, project);
    return isLinked;
  });
}

async function isReadable(
  context: OperationContext,
  { name, digest, from }: { readonly name: string; readonly digest: string; readonly from: string | null },
): Promise<boolean> {
  const { deps, caller } = context;
  if (from !== null) {
    if ((await findLinkedBlob(deps.database, from, digest)) === undefined) {
      return false;
    }
    const isAllowed = await caller.can(from, "pull");
    if (!isAllowed && caller.callFor !== undefined && (await mayPull(context, from))) {
      // The token alone is too narrow: its owner gets one with the source, and then the mount.
      throw caller.callFor(`repository:${name}:pull,push repository:${from}:pull`);
    }
    return isAllowed;
  }
  const rows = await deps.database.query<{ name: string }>(
    `select r.name from repository_blob l join repository r on r.id = l.repository_id where l.digest = $1 limit $2`,
    [digest, MAX_MOUNT_SOURCES],
  );
  for (const row of rows) {
    if (await caller.can(row.name, "pull")) {
      return true;
    }
  }
  return false;
}

async function mayPull({ deps, caller }: OperationContext, repository: string): Promise<boolean> {
  const principal = await caller.principal();
  const project = await findProject(deps.database, projectOf(repository));
  return (
    principal !== undefined &&
    project !== undefined &&
    (await findRights(deps.database, principal, project)).has("pull")
  );
}
