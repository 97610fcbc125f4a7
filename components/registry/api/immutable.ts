import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import { addAudit } from "../store/audit.ts";
import { addImmutableRule, deleteImmutableRule, listImmutableRules, setImmutableRule } from "../store/immutable.ts";
import { compilePattern } from "../store/patterns.ts";
import { type ApiContext, pickPage, requireProject } from "./context.ts";

/** Rules name what they hold; a selector of all others (`excludes`, `repoExcludes`) would hold the wrong tags. */
const selectorOf = (decoration: string) =>
  Type.Object({
    kind: Type.Optional(Type.Literal("doublestar")),
    decoration: Type.Optional(Type.Enum([decoration, ""])),
    pattern: Type.String({ minLength: 1, maxLength: 256 }),
  });
const Rule = Type.Object({
  disabled: Type.Optional(Type.Boolean()),
  tag_selectors: Type.Array(selectorOf("matches"), { minItems: 1, maxItems: 1 }),
  scope_selectors: Type.Optional(
    Type.Object({ repository: Type.Optional(Type.Array(selectorOf("repoMatches"), { minItems: 1, maxItems: 1 })) }),
  ),
});
const RULES = "/projects/:project/immutabletagrules";

/** Rules by which tags of a project may be neither moved nor deleted. */
export function addImmutableRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;
  const audit = async (request: FastifyRequest, operation: string, resource: string) => {
    const { project, principal } = await requireProject(context, request, "maintain");
    const entry = { actor: principal.name, operation, project: project.name };
    await addAudit(database, { ...entry, resourceType: "immutable tag rule", resource });
  };
  app.get(RULES, async (request, reply) => {
    const { project } = await requireProject(context, request, "maintain");
    const rules = pickPage(request, reply, await listImmutableRules(database, project.id));
    return rules.map(({ id, repositories, tags, isDisabled }) => ({
      id,
      disabled: isDisabled,
      action: "immutable",
      template: "immutable_template",
      tag_selectors: [{ kind: "doublestar", decoration: "matches", pattern: tags }],
      scope_selectors: { repository: [{ kind: "doublestar", decoration: "repoMatches", pattern: repositories }] },
    }));
  });
  app.post(RULES, { schema: { body: Rule } }, async (request, reply) => {
    const { project } = await requireProject(context, request, "maintain");
    const rule = parseRule(request.body as Static<typeof Rule>);
    const id = await addImmutableRule(database, project.id, rule);
    await audit(request, "create", rule.tags);
    return reply.code(201).header("location", `${request.url}/${id}`).send();
  });
  app.put(`${RULES}/:rule`, { schema: { body: Rule } }, async (request) => {
    const { project } = await requireProject(context, request, "maintain");
    const rule = parseRule(request.body as Static<typeof Rule>);
    requireFound(await setImmutableRule(database, project.id, ruleOf(request), rule));
    await audit(request, "update", rule.tags);
    return {};
  });
  app.delete(`${RULES}/:rule`, async (request) => {
    const { project } = await requireProject(context, request, "maintain");
    requireFound(await deleteImmutableRule(database, project.id, ruleOf(request)));
    await audit(request, "delete", String(ruleOf(request)));
    return {};
  });
}

function parseRule({ tag_selectors, scope_selectors, disabled = false }: Static<typeof Rule>) {
  const rule = {
    tags: tag_selectors[0]?.pattern ?? "",
    repositories: scope_selectors?.repository?.[0]?.pattern ?? "**",
    isDisabled: disabled,
  };
  for (const pattern of [rule.tags, rule.repositories]) {
    if (compilePattern(pattern) === undefined) {
      throw new Problem(400, `"${pattern}" is not a pattern; allowed: names with *, **, ? and {a,b}.`);
    }
  }
  return rule;
}

function ruleOf(request: { readonly params: unknown }): number {
  const id = Number((request.params as { rule: string }).rule);
  return Number.isSafeInteger(id) ? id : -1;
}

function requireFound(isFound: boolean): void {
  if (!isFound) {
    throw new Problem(404, "The rule does not exist.");
  }
}
