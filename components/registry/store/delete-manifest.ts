import { RegistryError } from "../errors.ts";
import { addAudit } from "./audit.ts";
import type { Sql } from "./database.ts";
import { checkImmutable } from "./immutable.ts";
import { unlinkUnused } from "./links.ts";
import { type Project, lockProject } from "./projects.ts";
import { findRepository } from "./repositories.ts";
import { tellWebhooks } from "./webhooks.ts";

interface Deletion {
  readonly project: string;
  readonly repository: string;
  readonly actor: string;
}

/** Deletes a tag; its manifest stays. @throws {RegistryError} MANIFEST_UNKNOWN, DENIED for an immutable tag */
export async function deleteTag(tx: Sql, { project: name, repository, actor }: Deletion, tag: string): Promise<void> {
  const project = await lockProject(tx, name);
  const found = await findRepository(tx, repository);
  const rows =
    found === undefined
      ? []
      : await tx.query("delete from tag where repository_id = $1 and name = $2 returning 1 as deleted", [
          found.id,
          tag,
        ]);
  if (rows.length === 0) {
    throw unknownManifest(tag);
  }
  await checkImmutable(tx, project, { repository, tag });
  await addAudit(tx, {
    actor,
    operation: "delete",
    project: name,
    resourceType: "tag",
    resource: `${repository}:${tag}`,
  });
  await tellOf(tx, project, { repository, actor }, { digest: undefined, tag });
}

/**
 * Deletes a manifest with its tags, and the manifests of an index that nothing else names; blobs that are not used any more leave the
 * repository, and its quota, in the same transaction.
 * @throws {RegistryError} MANIFEST_UNKNOWN; DENIED for an immutable tag, or while an index refers to it
 */
export async function deleteManifest(
  tx: Sql,
  { project: name, repository, actor }: Deletion,
  digest: string,
): Promise<void> {
  const project = await lockProject(tx, name);
  const found = await findRepository(tx, repository);
  const target = found && { project, repositoryId: found.id, repository };
  if (target === undefined || !(await exists(tx, target.repositoryId, digest))) {
    throw unknownManifest(digest);
  }
  const [parent] = await tx.query<{ parent: string }>(
    "select parent from manifest_child where repository_id = $1 and child = $2 and parent <> $2 limit 1",
    [target.repositoryId, digest],
  );
  if (parent !== undefined && !project.allowsSparse) {
    throw new RegistryError("DENIED", `The manifest belongs to the index ${parent.parent}; delete that one.`, {
      detail: { digest, parent: parent.parent },
    });
  }
  const blobs = new Set<string>();
  await removeManifest(tx, target, digest, blobs);
  await unlinkUnused(tx, target.repositoryId, [...blobs]);
  await addAudit(tx, {
    actor,
    operation: "delete",
    project: name,
    resourceType: "artifact",
    resource: `${repository}@${digest}`,
  });
  await tellOf(tx, target.project, { repository, actor }, { digest, tag: undefined });
}

function tellOf(
  tx: Sql,
  project: Project,
  { repository, actor }: Omit<Deletion, "project">,
  resource: { readonly digest: string | undefined; readonly tag: string | undefined },
): Promise<void> {
  return tellWebhooks(tx, {
    projectId: project.id,
    project: project.name,
    event: actor === "retention" ? "TAG_RETENTION" : "DELETE_ARTIFACT",
    operator: actor,
    repository,
    resources: [resource],
  });
}

interface Target {
  readonly project: Project;
  readonly repositoryId: string;
  readonly repository: string;
}

async function removeManifest(tx: Sql, target: Target, digest: string, blobs: Set<string>): Promise<void> {
  const { project, repositoryId, repository } = target;
  const tags = await tx.query<{ name: string }>("select name from tag where repository_id = $1 and digest = $2", [
    repositoryId,
    digest,
  ]);
  for (const { name } of tags) {
    await checkImmutable(tx, project, { repository, tag: name });
  }
  const used = await tx.query<{ blob: string }>(
    "select blob from manifest_blob where repository_id = $1 and manifest = $2",
    [repositoryId, digest],
  );
  for (const { blob } of used) {
    blobs.add(blob);
  }
  const children = await tx.query<{ child: string }>(
    "select child from manifest_child where repository_id = $1 and parent = $2 order by child",
    [repositoryId, digest],
  );
  await tx.query("delete from manifest where repository_id = $1 and digest = $2", [repositoryId, digest]);
  for (const { child } of children) {
    const [orphan] = await tx.query(
      `select from manifest m where repository_id = $1 and digest = $2
         and not exists (select from tag t where t.repository_id = $1 and t.digest = $2)
         and not exists (select from manifest_child c where c.repository_id = $1 and c.child = $2)`,
      [repositoryId, child],
    );
    if (orphan !== undefined) {
      await removeManifest(tx, target, child, blobs);
    }
  }
}

async function exists(tx: Sql, repositoryId: string, digest: string): Promise<boolean> {
  const rows = await tx.query("select from manifest where repository_id = $1 and digest = $2", [repositoryId, digest]);
  return rows.length > 0;
}

function unknownManifest(reference: string): RegistryError {
  return new RegistryError("MANIFEST_UNKNOWN", "The manifest is unknown to the repository.", { detail: { reference } });
}
