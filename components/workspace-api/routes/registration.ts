import { REGISTRATIONS } from "@swath/service/caller-limits";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Static } from "typebox";

import type { AcceptedRequest, RegistrationTask } from "../clients/registration.ts";
import { WorkspaceError } from "../errors.ts";
import { workspaceNamePattern } from "../names.ts";
import { listRegistrations } from "../store/registrations.ts";
import { RESPONSE_SCHEMAS } from "./answers.ts";
import { type ApiContext, enter } from "./context.ts";
import { registerIn } from "./register-in.ts";
import { DeregisterBody, DocumentBody, ListQuery, NameParams, RegisterBody } from "./schemas.ts";

const tags = ["registration"];
type Named = { Params: { name: string } };

const TYPES = ["stac-item", "stac-collection", "stac-catalog", "ades", "oaproc", "catalogue", "xml", "application"];

/** @throws {WorkspaceError} 400 for a type that cannot be registered */
export function checkType({ type }: Static<typeof RegisterBody>): void {
  if (!TYPES.includes(type.toLowerCase())) {
    throw new WorkspaceError(400, `"${type}" cannot be registered; allowed: ${TYPES.join(", ")}.`);
  }
}

/** What existing clients are told, with the address of the task for those that follow it. */
function sendAccepted(reply: FastifyReply, { message, location }: AcceptedRequest): FastifyReply {
  if (location !== undefined) {
    reply.header("location", location);
  }
  return reply.send({ message });
}

/** A task of the registration API in the form that registrations have here. */
function toRegistrationRecord({ id, kind, state, reason, request, ...task }: RegistrationTask) {
  return {
    id,
    queue: kind,
    payload: request,
    state: state === "queued" || state === "running" ? "pending" : state === "done" ? "done" : "failed",
    message: reason,
    requested_by: task.requested_by,
    requested_at: task.created_at,
    done_at: task.finished_at,
  };
}

/** Requests to register data and services, carried out by the registration service. */
export function addRegistrationRoutes(app: FastifyInstance, context: ApiContext): void {
  const { db, prefix, limits } = context;
  const registrations = limits.createRate(REGISTRATIONS);
  const params = NameParams(workspaceNamePattern(prefix));
  const enterAsWriter = async (request: Parameters<typeof enter>[1]) => {
    const { caller, workspace } = await enter(context, request, "writer");
    registrations.count({ user: caller.user?.id, address: request.ip });
    return {
      workspace: workspace.name,
      ...(caller.user && { requestedBy: caller.user.username ?? caller.user.id }),
    };
  };

  app.post<Named & { Body: Static<typeof RegisterBody> }>(
    "/workspaces/:name/register",
    {
      schema: {
        tags,
        summary: "Register a STAC catalogue, a processing service, a catalogue …",
        params,
        body: RegisterBody,
        response: RESPONSE_SCHEMAS.register,
      },
    },
    async (request, reply) => {
      const who = await enterAsWriter(request);
      checkType(request.body);
      const accepted = await registerIn(context, { ...who, request: { form: "register", ...request.body } });
      return sendAccepted(reply.code(202), accepted);
    },
  );

  for (const kind of ["collection", "json"] as const) {
    app.post<Named & { Body: Readonly<Record<string, unknown>> }>(
      `/workspaces/:name/register-${kind}`,
      {
        schema: {
          tags,
          summary: kind === "collection" ? "Register a STAC Collection" : "Register a STAC Item, Collection or record",
          params,
          body: DocumentBody,
          response: RESPONSE_SCHEMAS.registerDocument,
        },
      },
      async (request, reply) => {
        const who = await enterAsWriter(request);
        const accepted = await registerIn(context, {
          ...who,
          request: { form: kind, document: request.body },
        });
        return sendAccepted(reply.code(202), accepted);
      },
    );
  }

  app.post<Named & { Body: Static<typeof DeregisterBody> }>(
    "/workspaces/:name/deregister",
    {
      schema: {
        tags,
        summary: "Take something out of the catalogue",
        params,
        body: DeregisterBody,
        response: RESPONSE_SCHEMAS.deregister,
      },
    },
    async (request, reply) => {
      const who = await enterAsWriter(request);
      const { identifier, url } = request.body;
      if (!identifier && !url) {
        throw new WorkspaceError(422, "Name what is to be taken out: identifier or url.", [
          { loc: ["body", "identifier"], msg: "identifier or url is required", type: "value_error.missing" },
        ]);
      }
      const payload = identifier ? { identifier } : { url };
      const accepted = await registerIn(context, {
        ...who,
        request: { form: "deregister", ...payload },
      });
      return sendAccepted(reply, accepted);
    },
  );

  app.get<Named & { Querystring: Static<typeof ListQuery> }>(
    "/workspaces/:name/registrations",
    {
      schema: {
        tags,
        summary: "What was asked to be registered, the latest first",
        params,
        querystring: ListQuery,
        response: RESPONSE_SCHEMAS.registrations,
      },
    },
    async (request) => {
      const { workspace } = await enter(context, request, "reader");
      const limit = request.query.limit ?? 100;
      return {
        registrations:
          context.registration === undefined
            ? await listRegistrations(db, workspace.name, limit)
            : (await context.registration.list(workspace.name, limit)).map(toRegistrationRecord),
      };
    },
  );
}
