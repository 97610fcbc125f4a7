import type { RegistryDatabase, Sql } from "../store/database.ts";
import { deleteManifest, deleteTag } from "../store/delete-manifest.ts";
import { lockProject } from "../store/projects.ts";
import { type RunDecision, endRun, findRetention, insertRun, listCandidates } from "../store/retention.ts";
import { type Decision, planRetention } from "./plan.ts";
import type { RetentionRule } from "./rules.ts";

interface RunOptions {
  readonly database: RegistryDatabase;
  readonly project: { readonly id: string; readonly name: string };
  readonly rules: readonly RetentionRule[];
  readonly isDryRun: boolean;
  /** Who is said to have deleted it. */
  readonly actor: string;
}

export interface RunResult {
  readonly id: number;
  readonly retained: number;
  readonly deleted: number;
  readonly decisions: readonly RunDecision[];
}

const MAX_DECISIONS_KEPT = 1000;

/**
 * Deletes what no rule keeps, or says what would go. Each repository is a transaction that plans and deletes with the project locked:
 * what is pushed or tagged meanwhile is seen or waits.
 */
export async function runRetention({ database, project, rules, isDryRun, actor }: RunOptions): Promise<RunResult> {
  const id = await insertRun(database, project.id, isDryRun);
  const decisions: RunDecision[] = [];
  let retained = 0;
  let deleted = 0;
  let failure: string | null = null;
  try {
    const repositories = await database.query<{ id: string; name: string }>(
      "select id, name from repository where project_id = $1 order by name",
      [project.id],
    );
    for (const repository of repositories) {
      const plan = isDryRun
        ? await planRepository(database, project, repository, rules)
        : await database.transact(async (tx) => {
            await lockProject(tx, project.name);
            const made = await planRepository(tx, project, repository, rules);
            await execute(tx, { project: project.name, repository: repository.name, actor }, repository.id, made);
            return made;
          });
      for (const { candidate, isKept, reason } of plan) {
        if (isKept) {
          retained += 1;
          continue;
        }
        deleted += 1;
        if (decisions.length < MAX_DECISIONS_KEPT) {
          decisions.push({ repository: repository.name, digest: candidate.digest, tag: candidate.tag ?? null, reason });
        }
      }
    }
    if (!isDryRun && deleted > 0) {
      database.audit.note({ action: "DELETE by retention rules", actor, target: project.name, details: { deleted } });
    }
    return { id, retained, deleted, decisions };
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
    throw error;
  } finally {
    await endRun(database, project.id, id, { retained, deleted, decisions, failure });
  }
}

async function planRepository(
  sql: Sql,
  project: RunOptions["project"],
  repository: { readonly id: string; readonly name: string },
  rules: readonly RetentionRule[],
): Promise<readonly Decision[]> {
  const name = repository.name.slice(project.name.length + 1);
  const candidates = await listCandidates(sql, { projectId: project.id, repositoryId: repository.id, name });
  return planRetention(name, candidates, rules, new Date()) ?? [];
}

type Deletion = Parameters<typeof deleteTag>[1];

/** Takes tags away, then artifacts that have none left. */
async function execute(tx: Sql, deletion: Deletion, repositoryId: string, plan: readonly Decision[]): Promise<void> {
  const going = plan.filter(({ isKept }) => !isKept).map(({ candidate }) => candidate);
  for (const { tag } of going) {
    if (tag !== undefined) {
      await deleteTag(tx, deletion, tag);
    }
  }
  for (const digest of new Set(going.map((each) => each.digest))) {
    const [free] = await tx.query(
      `select from manifest m where repository_id = $1 and digest = $2
         and not exists (select from tag t where t.repository_id = $1 and t.digest = $2)
         and not exists (select from manifest_child c where c.repository_id = $1 and c.child = $2)`,
      [repositoryId, digest],
    );
    if (free !== undefined) {
      await deleteManifest(tx, deletion, digest);
    }
  }
}

/** Runs the policy of a project, where it has one still. */
export async function runPolicy(
  database: RegistryDatabase,
  project: RunOptions["project"],
): Promise<RunResult | undefined> {
  const policy = await findRetention(database, project.id);
  return policy && runRetention({ database, project, rules: policy.rules, isDryRun: false, actor: "retention" });
}
