import { RegistryError } from "../errors.ts";
import type { Sql } from "./database.ts";
import { compilePattern } from "./patterns.ts";
import type { Project } from "./projects.ts";

export interface ImmutableRule {
  readonly id: number;
  readonly repositories: string;
  readonly tags: string;
  readonly isDisabled: boolean;
}

export async function listImmutableRules(sql: Sql, projectId: string): Promise<readonly ImmutableRule[]> {
  const rows = await sql.query<{ id: string; repositories: string; tags: string; is_disabled: boolean }>(
    "select id, repositories, tags, is_disabled from immutable_rule where project_id = $1 order by id",
    [projectId],
  );
  return rows.map((row) => ({
    id: Number(row.id),
    repositories: row.repositories,
    tags: row.tags,
    isDisabled: row.is_disabled,
  }));
}

/**
 * Refuses to move or delete a tag that a rule of its project holds.
 * @throws {RegistryError} DENIED naming the rule
 */
export async function checkImmutable(
  tx: Sql,
  project: Project,
  { repository, tag }: { readonly repository: string; readonly tag: string },
): Promise<void> {
  const name = repository.slice(project.name.length + 1);
  for (const { repositories, tags, isDisabled } of await listImmutableRules(tx, project.id)) {
    if (!isDisabled && compilePattern(repositories)?.(name) === true && compilePattern(tags)?.(tag) === true) {
      throw new RegistryError(
        "DENIED",
        `The tag ${tag} is immutable by the rule "${tags}" of project ${project.name}; use another tag.`,
        { detail: { repository, tag } },
      );
    }
  }
}

type RuleValues = Omit<ImmutableRule, "id">;

export async function addImmutableRule(sql: Sql, projectId: string, rule: RuleValues): Promise<number> {
  const [row] = await sql.query<{ id: string }>(
    "insert into immutable_rule (project_id, repositories, tags, is_disabled) values ($1, $2, $3, $4) returning id",
    [projectId, rule.repositories, rule.tags, rule.isDisabled],
  );
  return Number(row?.id);
}

/** False when the project has no such rule. */
export async function setImmutableRule(sql: Sql, projectId: string, id: number, rule: RuleValues): Promise<boolean> {
  const rows = await sql.query(
    `update immutable_rule set repositories = $3, tags = $4, is_disabled = $5 where project_id = $1 and id = $2
     returning 1 as updated`,
    [projectId, id, rule.repositories, rule.tags, rule.isDisabled],
  );
  return rows.length > 0;
}

/** False when the project has no such rule. */
export async function deleteImmutableRule(sql: Sql, projectId: string, id: number): Promise<boolean> {
  const rows = await sql.query("delete from immutable_rule where project_id = $1 and id = $2 returning 1 as deleted", [
    projectId,
    id,
  ]);
  return rows.length > 0;
}

/** Refuses to delete a repository with tags that a rule holds. @throws {RegistryError} DENIED */
export async function checkAllImmutable(
  tx: Sql,
  project: Project,
  { repository, repositoryId }: { readonly repository: string; readonly repositoryId: string },
): Promise<void> {
  const rules = await listImmutableRules(tx, project.id);
  if (rules.every(({ isDisabled }) => isDisabled)) {
    return;
  }
  const tags = await tx.query<{ name: string }>("select name from tag where repository_id = $1 order by name", [
    repositoryId,
  ]);
  for (const { name: tag } of tags) {
    await checkImmutable(tx, project, { repository, tag });
  }
}
