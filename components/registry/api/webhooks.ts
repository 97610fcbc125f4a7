import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import { addAudit } from "../store/audit.ts";
import {
  EVENTS,
  type Webhook,
  type WebhookValues,
  deleteWebhook,
  insertWebhook,
  listDeliveries,
  listWebhooks,
  updateWebhook,
} from "../store/webhooks.ts";
import { type ApiContext, pickPage, requireProject } from "./context.ts";

const Target = Type.Object({
  type: Type.Optional(Type.Literal("http")),
  address: Type.String({ maxLength: 2000 }),
  auth_header: Type.Optional(Type.String({ maxLength: 4000, pattern: "^[\\t\\x20-\\x7e]*$" })),
  skip_cert_verify: Type.Optional(Type.Boolean()),
});
const Body = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  description: Type.Optional(Type.String({ maxLength: 1024 })),
  enabled: Type.Optional(Type.Boolean()),
  event_types: Type.Array(Type.Enum([...EVENTS]), { minItems: 1, maxItems: 20 }),
  targets: Type.Array(Target, { minItems: 1, maxItems: 1 }),
});
/** What is shown in place of a login. */
const MASK = "***";
const POLICIES = "/projects/:project/webhook/policies";

/** Webhooks: whom a project tells of pushes and deletions. */
export function addWebhookRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;
  const audit = async (request: FastifyRequest, operation: string, name: string) => {
    const { project, principal } = await requireProject(context, request, "maintain");
    const entry = { actor: principal.name, operation, project: project.name };
    await addAudit(database, { ...entry, resourceType: "webhook", resource: name });
  };

  app.get("/projects/:project/webhook/events", async (request) => {
    await requireProject(context, request, "maintain");
    return { event_type: EVENTS, notify_type: ["http"] };
  });
  app.get(POLICIES, async (request, reply) => {
    const { project } = await requireProject(context, request, "maintain");
    const webhooks = pickPage(request, reply, await listWebhooks(database, project.id));
    return webhooks.map((webhook) => toWebhookJson(project.id, webhook));
  });
  app.get(`${POLICIES}/:policy`, async (request) => {
    const { project } = await requireProject(context, request, "maintain");
    const found = (await listWebhooks(database, project.id)).find(({ id }) => id === idOf(request));
    if (found === undefined) {
      throw noSuchWebhook();
    }
    return toWebhookJson(project.id, found);
  });
  app.post(POLICIES, { schema: { body: Body } }, async (request, reply) => {
    const { project, principal } = await requireProject(context, request, "maintain");
    const values = toValues(request.body as Static<typeof Body>);
    const id = await insertWebhook(database, { ...values, projectId: project.id, createdBy: principal.name });
    if (id === undefined) {
      throw new Problem(409, `A webhook ${values.name} already exists.`);
    }
    await audit(request, "create", values.name);
    return reply
      .code(201)
      .header("location", `${request.url.split("?", 1)[0]}/${id}`)
      .send();
  });
  app.put(`${POLICIES}/:policy`, { schema: { body: Body } }, async (request) => {
    const { project } = await requireProject(context, request, "maintain");
    const values = toValues(request.body as Static<typeof Body>);
    requireFound(await updateWebhook(database, project.id, idOf(request), values));
    await audit(request, "update", values.name);
    return {};
  });
  app.delete(`${POLICIES}/:policy`, async (request) => {
    const { project } = await requireProject(context, request, "maintain");
    requireFound(await deleteWebhook(database, project.id, idOf(request)));
    await audit(request, "delete", String(idOf(request)));
    return {};
  });
  app.get(`${POLICIES}/:policy/executions`, async (request) => {
    const { project } = await requireProject(context, request, "maintain");
    return (await listDeliveries(database, project.id, idOf(request))).map((delivery) => ({
      id: delivery.id,
      event_type: delivery.event,
      status: { pending: "Running", delivered: "Success", failed: "Error" }[delivery.state],
      attempts: delivery.attempts,
      status_message: delivery.said,
      start_time: delivery.createdAt.toISOString(),
    }));
  });
}

function toValues({
  name,
  description = "",
  enabled = true,
  event_types: events,
  targets,
}: Static<typeof Body>): WebhookValues {
  const [target] = targets;
  const url = URL.parse(target?.address ?? "");
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw new Problem(
      400,
      "targets[0].address must be an http or https address without a login; use auth_header for one.",
    );
  }
  return {
    name,
    description,
    isEnabled: enabled,
    events: [...new Set(events)],
    address: url.href,
    // Clients that write what they have read send the mask back.
    authHeader: target?.auth_header === MASK ? undefined : target?.auth_header,
    skipsVerification: target?.skip_cert_verify ?? false,
  };
}

function idOf(request: FastifyRequest): number {
  const id = Number((request.params as { policy: string }).policy);
  return Number.isSafeInteger(id) ? id : -1;
}

function requireFound(isFound: boolean): void {
  if (!isFound) {
    throw noSuchWebhook();
  }
}

const noSuchWebhook = (): Problem => new Problem(404, "The webhook does not exist.");

function toWebhookJson(projectId: string, webhook: Webhook) {
  return {
    id: webhook.id,
    project_id: Number(projectId),
    name: webhook.name,
    description: webhook.description,
    enabled: webhook.isEnabled,
    event_types: webhook.events,
    // The login is told to the receiver alone.
    targets: [
      {
        type: "http",
        address: webhook.address,
        skip_cert_verify: webhook.skipsVerification,
        ...(webhook.hasAuthHeader && { auth_header: MASK }),
      },
    ],
    creator: webhook.createdBy,
    creation_time: webhook.createdAt.toISOString(),
    update_time: webhook.updatedAt.toISOString(),
  };
}
