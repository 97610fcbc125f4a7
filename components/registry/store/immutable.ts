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
