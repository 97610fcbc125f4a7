import type { Holder } from "../access/caller.ts";
import { RegistryError } from "../errors.ts";
import type { ParsedManifest } from "../protocol/manifest.ts";
import { checkImmutable } from "./immutable.ts";
import { type Project, checkQuota, lockProject } from "./projects.ts";
import { ensureRepository } from "./repositories.ts";
import type { Sql } from "./database.ts";
import { addAudit } from "./audit.ts";
import { tellWebhooks } from "./webhooks.ts";

export interface NewManifest {
  readonly project: string;
  readonly repository: string;
  readonly digest: string;
  readonly content: Buffer;
  readonly parsed: ParsedManifest;
  readonly tags: readonly string[];
  /** Who pushes, for people. */
  readonly actor: string;
  /** The push, as its pins name it. */
  readonly holder: Holder;
}

/**
 * Stores a manifest and points tags at it, all or nothing. Everything that it refers to has to be in the repository.
 * @throws {RegistryError} MANIFEST_BLOB_UNKNOWN, DENIED for a quota or an immutable tag
 */
export async function putManifest(tx: Sql, manifest: NewManifest): Promise<void> {
  const { repository, digest, parsed, tags, actor } = manifest;
  const project = await lockProject(tx, manifest.project);
  const repositoryId = await ensureRepository(tx, project, repository);
  await checkBlobs(tx, repositoryId, parsed);
  // A cache has of an index what was pulled of it.
  if (!project.allowsSparse && project.upstreamId === undefined) {
    await checkChildren(tx, repositoryId, parsed.children);
  }
  const isNew = await insertManifest(tx, { project, repositoryId }, manifest);
  for (const tag of tags) {
    await setTag(tx, { project, repositoryId, repository }, tag, digest);
  }
  await checkQuota(tx, project);
  await releasePins(tx, { repositoryId, blobs: parsed.blobs, holder: manifest.holder, isNew });
  await tx.query("update repository set updated_at = now() where id = $1", [repositoryId]);
  await addAudit(tx, {
    actor,
    operation: "push",
    project: project.name,
    resourceType: "artifact",
    resource: tags.length > 0 ? `${repository}:${tags.join(",")}` : `${repository}@${digest}`,
  });
  await tellWebhooks(tx, {
    projectId: project.id,
    project: project.name,
    event: "PUSH_ARTIFACT",
    operator: actor,
    repository,
    resources: tags.length > 0 ? tags.map((tag) => ({ digest, tag })) : [{ digest, tag: undefined }],
  });
}

/** Locks the links of the blobs, so that none is taken out before the manifest is there. */
async function checkBlobs(tx: Sql, repositoryId: string, { blobs, sizes }: ParsedManifest): Promise<void> {
  const rows = await tx.query<{ digest: string; size: string }>(
    `select digest, size from repository_blob where repository_id = $1 and digest = any($2)
     order by digest for key share`,
    [repositoryId, blobs],
  );
  const known = new Map(rows.map(({ digest, size }) => [digest, Number(size)]));
  for (const digest of blobs) {
    const size = known.get(digest);
    if (size === undefined) {
      throw unknownReference(digest);
    }
    if (size !== sizes.get(digest)) {
      throw new RegistryError(
        "MANIFEST_INVALID",
        `The manifest is invalid: it says that ${digest} has ${sizes.get(digest)} bytes; it has ${size}.`,
      );
    }
  }
}

async function checkChildren(tx: Sql, repositoryId: string, children: readonly string[]): Promise<void> {
  const rows = await tx.query<{ digest: string }>(
    `select digest from manifest where repository_id = $1 and digest = any($2) order by digest for key share`,
    [repositoryId, children],
  );
  const known = new Set(rows.map(({ digest }) => digest));
  const missing = children.find((digest) => !known.has(digest));
  if (missing !== undefined) {
    throw unknownReference(missing);
  }
}

function unknownReference(digest: string): RegistryError {
  return new RegistryError(
    "MANIFEST_BLOB_UNKNOWN",
    `The manifest refers to ${digest}, which the repository does not have; push it first.`,
    {
      detail: { digest },
    },
  );
}

interface Target {
  readonly project: Project;
  readonly repositoryId: string;
}

async function insertManifest(
  tx: Sql,
  { project, repositoryId }: Target,
  { digest, content, parsed, actor }: NewManifest,
): Promise<boolean> {
  const total = content.length + [...parsed.sizes.values()].reduce((sum, size) => sum + size, 0);
  const inserted = await tx.query(
    `insert into manifest (repository_id, project_id, digest, media_type, size, content, subject, artifact_type,
       annotations, total_size, pushed_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (repository_id, digest) do nothing returning 1 as inserted`,
    [
      repositoryId,
      project.id,
      digest,
      parsed.mediaType,
      content.length,
      content,
      parsed.subject ?? null,
      parsed.artifactType ?? null,
      parsed.annotations === undefined ? null : JSON.stringify(parsed.annotations),
      total,
      actor,
    ],
  );
  if (inserted.length === 0) {
    return false;
  }
  await tx.query("insert into manifest_blob (repository_id, manifest, blob) select $1, $2, unnest($3::text[])", [
    repositoryId,
    digest,
    parsed.blobs,
  ]);
  await tx.query("insert into manifest_child (repository_id, parent, child) select $1, $2, unnest($3::text[])", [
    repositoryId,
    digest,
    parsed.children,
  ]);
  return true;
}

/** Points a tag at a manifest. The project is locked. @throws {RegistryError} DENIED for an immutable one */
export async function setTag(
  tx: Sql,
  { project, repositoryId, repository }: Target & { readonly repository: string },
  name: string,
  digest: string,
): Promise<void> {
  const [current] = await tx.query<{ digest: string }>(
    "select digest from tag where repository_id = $1 and name = $2 for update",
    [repositoryId, name],
  );
  if (current !== undefined && current.digest !== digest) {
    await checkImmutable(tx, project, { repository, tag: name });
  }
  await tx.query(
    `insert into tag (repository_id, name, digest) values ($1, $2, $3)
     on conflict (repository_id, name) do update set digest = excluded.digest, pushed_at = now()`,
    [repositoryId, name, digest],
  );
}

interface Release {
  readonly repositoryId: string;
  readonly blobs: readonly string[];
  readonly holder: Holder;
  readonly isNew: boolean;
}

/**
 * The push has what it wanted; another one may still rely on the same blobs, so each push releases one pin of a blob: that of its token,
 * or, since a long push goes through several tokens, the oldest of whoever pushes.
 */
async function releasePins(tx: Sql, { repositoryId, blobs, holder, isNew }: Release): Promise<void> {
  const released = await tx.query<{ digest: string }>(
    "delete from pin where repository_id = $1 and holder = $2 and digest = any($3) returning digest",
    [repositoryId, holder.token, blobs],
  );
  const own = new Set(released.map(({ digest }) => digest));
  const rest = blobs.filter((digest) => !own.has(digest));
  // Clients that send a manifest twice, by digest and by tag, are through with the first.
  if (isNew && rest.length > 0) {
    await tx.query(
      `delete from pin where (repository_id, digest, holder) in (
         select distinct on (digest) repository_id, digest, holder from pin
         where repository_id = $1 and digest = any($2) and subject = $3 order by digest, until)`,
      [repositoryId, rest, holder.subject],
    );
  }
}
