import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import { runRetention } from "../retention/run.ts";
import { type RetentionRule, TEMPLATES, type Template } from "../retention/rules.ts";
import { addAudit } from "../store/audit.ts";
import { compilePattern } from "../store/patterns.ts";
import {
  type RetentionPolicy,
  type RetentionRun,
  deleteRetention,
  findRetention,
  listRuns,
  setRetention,
} from "../store/retention.ts";
import { type ApiContext, type ProjectAccess, requireLogin, requireProjectById } from "./context.ts";
import { CRONS, Trigger, toSchedule } from "./crons.ts";

const Selector = Type.Object({
  kind: Type.Optional(Type.String()),
  decoration: Type.Optional(Type.String()),
  pattern: Type.String({ minLength: 1, maxLength: 256 }),
  extras: Type.Optional(Type.String({ maxLength: 1024 })),
});
const Rule = Type.Object({
  disabled: Type.Optional(Type.Boolean()),
  action: Type.Optional(Type.Literal("retain")),
  template: Type.Enum([...TEMPLATES]),
  params: Type.Optional(Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: 100_000 }))),
  tag_selectors: Type.Array(Selector, { minItems: 1, maxItems: 1 }),
  scope_selectors: Type.Object({ repository: Type.Array(Selector, { minItems: 1, maxItems: 1 }) }),
});
const Policy = Type.Object({
  algorithm: Type.Optional(Type.Literal("or")),
  rules: Type.Array(Rule, { maxItems: 50 }),
  trigger: Type.Optional(Trigger),
  scope: Type.Object({ level: Type.Literal("project"), ref: Type.Integer({ minimum: 1 }) }),
});
type Policy = Static<typeof Policy>;
const Execution = Type.Object({ dry_run: Type.Optional(Type.Boolean()) });

/** What rules can say, for clients that build forms of it. */
const TEMPLATE_LIST = {
  templates: TEMPLATES.map((template) => ({
    rule_template: template,
    display_text: template,
    action: "retain",
    params:
      template === "always"
        ? []
        : [{ type: "int", unit: template.startsWith("nDays") ? "DAYS" : "COUNT", required: true }],
  })),
  scope_selectors: [{ display_text: "Repositories", kind: "doublestar", decorations: ["repoMatches", "repoExcludes"] }],
  tag_selectors: [{ display_text: "Tags", kind: "doublestar", decorations: ["matches", "excludes"] }],
};

/** Retention policies, which have the numbers of their projects. */
export function addRetentionRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;
  const enter = (request: FastifyRequest, id: string): Promise<ProjectAccess> =>
    requireProjectById(context, request, id, "maintain");
  const find = async (request: FastifyRequest): Promise<ProjectAccess & { readonly policy: RetentionPolicy }> => {
    const access = await enter(request, (request.params as { id: string }).id);
    const policy = await findRetention(database, access.project.id);
    if (policy === undefined) {
      throw new Problem(404, `The project ${access.project.name} has no retention policy.`);
    }
    return { ...access, policy };
  };
  const save = async (request: FastifyRequest, projectId: string) => {
    const body = request.body as Policy;
    const { project, principal } = await enter(request, projectId);
    await database.transact(async (tx) => {
      await setRetention(tx, {
        projectId: project.id,
        rules: body.rules.map(toRule),
        schedule: toSchedule(body.trigger),
      });
      const entry = { actor: principal.name, operation: "update", project: project.name };
      await addAudit(tx, { ...entry, resourceType: "retention", resource: project.name });
    });
    return project;
  };

  app.get("/retentions/metadatas", async (request) => {
    await requireLogin(context, request);
    return TEMPLATE_LIST;
  });
  app.post("/retentions", { schema: { body: Policy } }, async (request, reply) => {
    const { id } = await save(request, String((request.body as Policy).scope.ref));
    return reply.code(201).header("location", `/api/v2.0/retentions/${id}`).send();
  });
  app.put("/retentions/:id", { schema: { body: Policy } }, async (request) => {
    const { id } = request.params as { id: string };
    if (String((request.body as Policy).scope.ref) !== id) {
      throw new Problem(400, `scope.ref must be ${id.slice(0, 20)}: a policy stays with its project.`);
    }
    await save(request, id);
    return {};
  });
  app.get("/retentions/:id", async (request) => toPolicyJson((await find(request)).policy));
  app.delete("/retentions/:id", async (request) => {
    const { project, principal } = await find(request);
    await database.transact(async (tx) => {
      await deleteRetention(tx, project.id);
      const entry = { actor: principal.name, operation: "delete", project: project.name };
      await addAudit(tx, { ...entry, resourceType: "retention", resource: project.name });
    });
    return {};
  });

  // With dry_run it says what would go; the answer comes when it is done.
  app.post("/retentions/:id/executions", { schema: { body: Execution } }, async (request, reply) => {
    const { project, principal, policy } = await find(request);
    const { dry_run: isDryRun = false } = request.body as Static<typeof Execution>;
    const { id, retained, deleted, decisions } = await runRetention({
      database,
      project,
      rules: policy.rules,
      isDryRun,
      actor: principal.name,
    });
    return reply
      .code(201)
      .header("location", `/api/v2.0/retentions/${project.id}/executions/${id}`)
      .send({ id, dry_run: isDryRun, retained, deleted, decisions });
  });
  app.get("/retentions/:id/executions", async (request) => {
    const { project } = await find(request);
    return (await listRuns(database, project.id)).map((run) => toRunJson(project.id, run));
  });
}

function toRule({
  template,
  params = {},
  tag_selectors,
  scope_selectors,
  disabled = false,
}: Static<typeof Rule>): RetentionRule {
  const [tag] = tag_selectors;
  const [repository] = scope_selectors.repository;
  const rule = {
    template,
    count: toCount(template, params),
    tags: tag?.pattern ?? "**",
    excludesTags: tag?.decoration === "excludes",
    repositories: repository?.pattern ?? "**",
    excludesRepositories: repository?.decoration === "repoExcludes",
    untagged: /"untagged":\s*true/.test(tag?.extras ?? ""),
    isDisabled: disabled,
  };
  for (const pattern of [rule.tags, rule.repositories]) {
    if (compilePattern(pattern) === undefined) {
      throw new Problem(400, `"${pattern}" is not a pattern; allowed: names with *, **, ? and {a,b}.`);
    }
  }
  return rule;
}

function toCount(template: Template, params: Readonly<Record<string, number>>): number {
  const count = template === "always" ? 0 : params[template];
  if (count === undefined) {
    throw new Problem(400, `A rule of template ${template} needs params.${template}, a number.`);
  }
  return count;
}

function toPolicyJson({ projectId, rules, schedule, nextAt }: RetentionPolicy) {
  const selector = (decoration: string, pattern: string) => ({ kind: "doublestar", decoration, pattern });
  return {
    id: Number(projectId),
    algorithm: "or",
    scope: { level: "project", ref: Number(projectId) },
    trigger: {
      kind: "Schedule",
      settings: { cron: CRONS[schedule], next_scheduled_time: nextAt?.toISOString() ?? null },
    },
    rules: rules.map((rule, index) => ({
      id: index + 1,
      priority: index + 1,
      disabled: rule.isDisabled,
      action: "retain",
      template: rule.template,
      params: { [rule.template]: rule.count },
      tag_selectors: [
        {
          ...selector(rule.excludesTags ? "excludes" : "matches", rule.tags),
          extras: JSON.stringify({ untagged: rule.untagged }),
        },
      ],
      scope_selectors: {
        repository: [selector(rule.excludesRepositories ? "repoExcludes" : "repoMatches", rule.repositories)],
      },
    })),
  };
}

function toRunJson(projectId: string, run: RetentionRun) {
  return {
    id: run.id,
    policy_id: Number(projectId),
    dry_run: run.isDryRun,
    status: run.failure !== null ? "Error" : run.endedAt === null ? "Running" : "Success",
    start_time: run.startedAt.toISOString(),
    end_time: run.endedAt?.toISOString() ?? null,
    retained: run.retained,
    deleted: run.deleted,
    decisions: run.decisions,
    ...(run.failure !== null && { status_text: run.failure }),
  };
}
