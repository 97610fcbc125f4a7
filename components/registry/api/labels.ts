import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import type { Action } from "../access/actions.ts";
import { addAudit } from "../store/audit.ts";
import {
  type Label,
  addLabel,
  deleteLabel,
  findLabel,
  insertLabel,
  listLabels,
  removeLabel,
  updateLabel,
} from "../store/labels.ts";
import { ARTIFACT, requireArtifact } from "./artifacts.ts";
import { type ApiContext, pickPage, requireAdmin, requireLogin, requireProjectById } from "./context.ts";

const Values = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  description: Type.Optional(Type.String({ maxLength: 1024 })),
  // Harbor's Terraform provider sends "false" for a label without a colour.
  color: Type.Optional(Type.String({ pattern: "^(#[0-9a-fA-F]{6}|false)?$" })),
});
const NewLabel = Type.Intersect([
  Values,
  Type.Object({
    /** `g`: of the whole registry, `p`: of a project. */
    scope: Type.Optional(Type.Union([Type.Literal("g"), Type.Literal("p")])),
    project_id: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
  }),
]);
const Reference = Type.Object({ id: Type.Integer({ minimum: 1 }) });

/** Labels of projects and of the registry, and of artifacts. */
export function addLabelRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;
  /** Who may see or change the labels of a project, or of the registry. */
  const enter = async (request: FastifyRequest, projectId: string | undefined, action: Action) => {
    if (projectId !== undefined) {
      const { project, principal } = await requireProjectById(context, request, projectId, action);
      return { actor: principal.name, project: project.name };
    }
    const { name } = await (action === "pull" ? requireLogin(context, request) : requireAdmin(context, request));
    return { actor: name, project: "" };
  };
  const find = async (request: FastifyRequest): Promise<Label> => {
    const { id } = request.params as { id: string };
    const label = /^\d{1,18}$/.test(id) ? await findLabel(database, id) : undefined;
    if (label === undefined) {
      throw new Problem(404, "The label does not exist.");
    }
    return label;
  };

  app.get("/labels", async (request, reply) => {
    const { scope = "g", project_id: id } = request.query as { scope?: string; project_id?: string };
    if (scope === "p" && id === undefined) {
      throw new Problem(400, "Labels of a project (scope=p) need its project_id.");
    }
    const projectId = scope === "p" ? id : undefined;
    await enter(request, projectId, "pull");
    return pickPage(request, reply, await listLabels(database, projectId)).map(toLabelJson);
  });
  app.post("/labels", { schema: { body: NewLabel } }, async (request, reply) => {
    const { scope, project_id: id, ...values } = request.body as Static<typeof NewLabel>;
    const projectId = scope === "p" || (scope === undefined && id) ? String(id ?? 0) : undefined;
    const entry = await enter(request, projectId, "maintain");
    const made = await insertLabel(database, projectId, toValues(values));
    if (made === undefined) {
      throw new Problem(409, `A label ${values.name} already exists.`);
    }
    await addAudit(database, { ...entry, operation: "create", resourceType: "label", resource: values.name });
    return reply.code(201).header("location", `/api/v2.0/labels/${made}`).send();
  });
  app.get("/labels/:id", async (request) => {
    const label = await find(request);
    await enter(request, label.projectId, "pull");
    return toLabelJson(label);
  });
  app.put("/labels/:id", { schema: { body: Values } }, async (request) => {
    const label = await find(request);
    const entry = await enter(request, label.projectId, "maintain");
    const values = toValues(request.body as Static<typeof Values>);
    if (!(await updateLabel(database, label.id, values))) {
      throw new Problem(409, `A label ${values.name} already exists.`);
    }
    await addAudit(database, { ...entry, operation: "update", resourceType: "label", resource: values.name });
    return {};
  });
  app.delete("/labels/:id", async (request) => {
    const label = await find(request);
    const entry = await enter(request, label.projectId, "maintain");
    await deleteLabel(database, label.id);
    await addAudit(database, { ...entry, operation: "delete", resourceType: "label", resource: label.name });
    return {};
  });

  app.post(`${ARTIFACT}/labels`, { schema: { body: Reference } }, async (request) => {
    const { artifact, ...access } = await requireArtifact(context, request, "push");
    const label = await findLabel(database, String((request.body as Static<typeof Reference>).id));
    if (label === undefined || (label.projectId !== undefined && label.projectId !== access.project.id)) {
      throw new Problem(404, "The label does not exist in this project.");
    }
    if (!(await addLabel(database, access.repositoryId, artifact.digest, label.id))) {
      throw new Problem(409, `The artifact has the label ${label.name} already.`);
    }
    await auditOf(access, "create", `${access.repository}@${artifact.digest}: ${label.name}`);
    return {};
  });
  app.delete(`${ARTIFACT}/labels/:id`, async (request) => {
    const { artifact, ...access } = await requireArtifact(context, request, "push");
    const label = await find(request);
    if (!(await removeLabel(database, access.repositoryId, artifact.digest, label.id))) {
      throw new Problem(404, "The artifact does not have this label.");
    }
    await auditOf(access, "delete", `${access.repository}@${artifact.digest}: ${label.name}`);
    return {};
  });
  const auditOf = (
    access: { readonly principal: { readonly name: string }; readonly project: { readonly name: string } },
    operation: string,
    resource: string,
  ) =>
    addAudit(database, {
      actor: access.principal.name,
      operation,
      project: access.project.name,
      resourceType: "label of artifact",
      resource,
    });
}

const toValues = ({ name, description = "", color = "" }: Static<typeof Values>) => ({ name, description, color });

export const toLabelJson = ({ id, projectId, name, description, color, createdAt }: Label) => ({
  id: Number(id),
  name,
  description,
  color,
  scope: projectId === undefined ? "g" : "p",
  project_id: Number(projectId ?? 0),
  creation_time: createdAt.toISOString(),
});
