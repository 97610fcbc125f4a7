import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import {
  type MapperOwner,
  type ProtocolMapper,
  deleteMapper,
  insertMapper,
  listMappers,
  updateMapper,
} from "../store/client-scopes.ts";
import { publishChange } from "../store/changes.ts";
import { openClient } from "./clients.ts";
import { openClientScope } from "./client-scopes.ts";
import { AdminError, notFound } from "./errors.ts";
import { readMapper, toMapperRepresentation } from "./mapper-records.ts";
import { type AdminRequest, forRoles, readList, readObject } from "./request.ts";

type OwnerOf = (request: AdminRequest) => Promise<MapperOwner>;

/** What clients and client scopes add to tokens. */
export function addMapperRoutes(app: FastifyInstance, context: IdentityContext): void {
  addMappers(app, context, "/admin/realms/:realm/clients/:client/protocol-mappers", async (request) => ({
    kind: "client",
    id: (await openClient(request)).id,
  }));
  addMappers(app, context, "/admin/realms/:realm/client-scopes/:scope/protocol-mappers", async (request) => ({
    kind: "scope",
    id: (await openClientScope(request)).id,
  }));
}

function addMappers(app: FastifyInstance, context: IdentityContext, base: string, ownerOf: OwnerOf): void {
  const { pool } = context;
  const models = `${base}/models`;
  const open = async (request: AdminRequest) => {
    const owner = await ownerOf(request);
    const mapper = (await listMappers(pool, owner)).find(({ id }) => id === request.params["mapper"]);
    if (mapper === undefined) {
      throw notFound("Model");
    }
    return { owner, mapper };
  };
  const changeMappers = <Result>(
    request: AdminRequest,
    operation: "CREATE" | "UPDATE" | "DELETE",
    owner: MapperOwner,
    work: Parameters<typeof request.change<Result>>[1],
  ) =>
    request.change(
      { operation, resourceType: "PROTOCOL_MAPPER", resourcePath: `${owner.kind}s/${owner.id}/protocol-mappers` },
      async (db) => {
        const result = await work(db);
        // Any client may have the scope: all are read again.
        await publishChange(db, { kind: "realm", realm: request.handle.realm.name });
        return result;
      },
    );
  const add = async (request: AdminRequest, bodies: readonly Readonly<Record<string, unknown>>[]) => {
    const owner = await ownerOf(request);
    const requested = bodies.map((body) => readMapper(body));
    const known = await listMappers(pool, owner);
    for (const { name } of requested) {
      if (known.some((mapper) => mapper.name === name)) {
        throw new AdminError(409, `Protocol mapper exists with same name: ${name}`);
      }
    }
    return changeMappers(request, "CREATE", owner, async (db) => {
      const ids: string[] = [];
      for (const mapper of requested) {
        ids.push(await insertMapper(db, owner, mapper));
      }
      return ids;
    });
  };

  app.get(
    models,
    forRoles(context, ["view-clients"], async (request) =>
      (await listMappers(pool, await ownerOf(request))).map(toMapperRepresentation),
    ),
  );
  app.get(
    `${base}/protocol/:protocol`,
    forRoles(context, ["view-clients"], async (request) =>
      request.params["protocol"] === "openid-connect"
        ? (await listMappers(pool, await ownerOf(request))).map(toMapperRepresentation)
        : [],
    ),
  );
  app.post(
    models,
    forRoles(context, ["manage-clients"], async (request) => {
      const [id] = await add(request, [readObject(request.body)]);
      const path = request.reply.request.url.split("?", 1)[0]?.replace(/\/$/, "") ?? "";
      return request.reply
        .code(201)
        .header("location", `${context.publicUrl}${path}/${id ?? ""}`)
        .send();
    }),
  );
  app.post(
    `${base}/add-models`,
    forRoles(context, ["manage-clients"], async (request) => {
      await add(request, readList(request.body));
      return request.reply.code(204).send();
    }),
  );
  app.get(
    `${models}/:mapper`,
    forRoles(context, ["view-clients"], async (request) => toMapperRepresentation((await open(request)).mapper)),
  );
  app.put(
    `${models}/:mapper`,
    forRoles(context, ["manage-clients"], async (request) => {
      const { owner, mapper } = await open(request);
      const requested: ProtocolMapper = { ...readMapper(readObject(request.body), mapper), id: mapper.id };
      await changeMappers(request, "UPDATE", owner, (db) => updateMapper(db, owner, requested));
      return request.reply.code(204).send();
    }),
  );
  app.delete(
    `${models}/:mapper`,
    forRoles(context, ["manage-clients"], async (request) => {
      const { owner, mapper } = await open(request);
      await changeMappers(request, "DELETE", owner, (db) => deleteMapper(db, owner, mapper.id));
      return request.reply.code(204).send();
    }),
  );
}
