import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext, LoginFace } from "../../context.ts";
import { SCIM_BASE } from "../discovery.ts";
import { createCallAdmin } from "./admin-calls.ts";
import { applyBulk } from "./bulk.ts";
import { type ScimContext, openScim } from "./context.ts";
import { sendScimError } from "./errors.ts";
import {
  createScimGroup,
  deleteScimGroup,
  listScimGroups,
  patchScimGroup,
  readScimGroup,
  replaceScimGroup,
} from "./group-resource.ts";
import { project, readProjection } from "./list.ts";
import { describeResourceTypes, describeSchemas, describeService } from "./service-documents.ts";
import {
  createScimUser,
  deleteScimUser,
  listScimUsers,
  patchScimUser,
  readScimUser,
  replaceScimUser,
} from "./user-resource.ts";
import { readResource } from "./values.ts";

type Json = Record<string, unknown>;

/** Everything that a kind of resource can do. */
interface Operations {
  readonly list: (context: ScimContext, query: Json) => Promise<object>;
  readonly read: (context: ScimContext, id: string) => Promise<Json>;
  readonly create: (context: ScimContext, body: unknown) => Promise<Json>;
  readonly replace: (context: ScimContext, id: string, body: unknown) => Promise<Json>;
  readonly patch: (context: ScimContext, id: string, body: unknown) => Promise<Json>;
  readonly remove: (context: ScimContext, id: string) => Promise<void>;
}

const KINDS: Readonly<Record<string, Operations>> = {
  Users: {
    list: listScimUsers,
    read: readScimUser,
    create: createScimUser,
    replace: replaceScimUser,
    patch: patchScimUser,
    remove: deleteScimUser,
  },
  Groups: {
    list: listScimGroups,
    read: readScimGroup,
    create: createScimGroup,
    replace: replaceScimGroup,
    patch: patchScimGroup,
    remove: deleteScimGroup,
  },
};

/** SCIM 2.0 (RFC 7643, RFC 7644) over the realm's users and groups. */
export function addScimRoutes(app: FastifyInstance, context: IdentityContext, face: LoginFace): void {
  app.setErrorHandler(sendScimError);
  const base = `${context.publicUrl}${SCIM_BASE}`;
  const hide = { schema: { hide: true } };
  const open = (request: FastifyRequest) => openScim(context, face, request, createCallAdmin(app, face.realm, request));
  const send = (reply: FastifyReply, body: object, status = 200) =>
    reply.code(status).header("cache-control", "no-store").type("application/scim+json").send(JSON.stringify(body));
  const idOf = ({ params }: FastifyRequest) => (params as { id: string }).id;

  app.get(`${SCIM_BASE}/ServiceProviderConfig`, hide, (_request, reply) => send(reply, describeService(base)));
  app.get(`${SCIM_BASE}/ResourceTypes`, hide, (_request, reply) => send(reply, describeResourceTypes(base)));
  app.get(`${SCIM_BASE}/Schemas`, hide, (_request, reply) => send(reply, describeSchemas(base)));
  app.post(`${SCIM_BASE}/Bulk`, hide, async (request, reply) =>
    send(reply, await applyBulk(await open(request), request.body)),
  );
  for (const [kind, operations] of Object.entries(KINDS)) {
    const url = `${SCIM_BASE}/${kind}`;
    app.get(url, hide, async (request, reply) =>
      send(reply, await operations.list(await open(request), request.query as Json)),
    );
    app.post(`${url}/.search`, hide, async (request, reply) =>
      send(reply, await operations.list(await open(request), { ...readResource(request.body) })),
    );
    app.post(url, hide, async (request, reply) => {
      const made = await operations.create(await open(request), request.body);
      return send(reply.header("location", `${base}/${kind}/${String(made["id"])}`), made, 201);
    });
    app.get(`${url}/:id`, hide, async (request, reply) => {
      const found = await operations.read(await open(request), idOf(request));
      return send(reply, project(found, readProjection(request.query as Json)));
    });
    app.put(`${url}/:id`, hide, async (request, reply) =>
      send(reply, await operations.replace(await open(request), idOf(request), request.body)),
    );
    app.patch(`${url}/:id`, hide, async (request, reply) =>
      send(reply, await operations.patch(await open(request), idOf(request), request.body)),
    );
    app.delete(`${url}/:id`, hide, async (request, reply) => {
      await operations.remove(await open(request), idOf(request));
      return reply.code(204).send();
    });
  }
}
