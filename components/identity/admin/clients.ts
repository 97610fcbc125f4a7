import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { publishChange } from "../store/changes.ts";
import { type Client, deleteClient, findClient, findClientById, listClients } from "../store/clients.ts";
import { isUuid } from "../store/database.ts";
import { findUser } from "../store/users.ts";
import { addClient, changeClient, newSecret, readClient, toClientRepresentation } from "./client-records.ts";
import { AdminError, badRequest, notFound } from "./errors.ts";
import { type AdminRequest, forRoles, readObject, readPage } from "./request.ts";
import { toUserRepresentation } from "./user-records.ts";

/** Clients that the service itself needs. */
const OWN_CLIENTS = ["realm-management", "account", "admin-cli", "security-admin-console"];

/** @throws {AdminError} 404 */
export async function openClient({ context, handle, params }: AdminRequest): Promise<Client> {
  const id = params["client"] ?? "";
  const client = isUuid(id) ? await findClientById(context.pool, handle.realm.id, id) : undefined;
  if (client === undefined) {
    throw notFound("Client");
  }
  return client;
}

/** `/admin/realms/{realm}/clients` */
export function addClientRoutes(app: FastifyInstance, context: IdentityContext): void {
  const base = "/admin/realms/:realm/clients";

  app.get(
    base,
    forRoles(context, ["view-clients", "query-clients"], async ({ handle, query, actor }) => {
      const { pool } = context;
      const { clientId, search } = query;
      const show = (client: Client) =>
        actor.may("view-clients") ? toClientRepresentation(client) : { id: client.id, clientId: client.clientId };
      if (clientId !== undefined && search !== "true") {
        const client = await findClient(pool, handle.realm.id, clientId);
        return client === undefined ? [] : [show(client)];
      }
      const found = await listClients(pool, handle.realm.id, {
        search: clientId ?? search,
        ...readPage(query, 10_000),
      });
      return found.map(show);
    }),
  );

  app.post(
    base,
    forRoles(context, ["manage-clients"], async ({ handle, body, change, reply, context: { publicUrl } }) => {
      const { realm } = handle;
      const fields = readClient(readObject(body));
      if (fields.id !== undefined && !isUuid(fields.id)) {
        throw badRequest("id must be a UUID");
      }
      if (fields.clientId !== undefined && (await findClient(context.pool, realm.id, fields.clientId)) !== undefined) {
        throw new AdminError(409, `Client ${fields.clientId} already exists`);
      }
      const id = await change(
        { operation: "CREATE", resourceType: "CLIENT", resourcePath: `clients/${fields.clientId ?? ""}` },
        (db) => addClient(db, realm, fields),
      );
      return reply.code(201).header("location", `${publicUrl}/admin/realms/${realm.name}/clients/${id}`).send();
    }),
  );

  app.get(
    `${base}/:client`,
    forRoles(context, ["view-clients"], async (request) => toClientRepresentation(await openClient(request))),
  );

  app.put(
    `${base}/:client`,
    forRoles(context, ["manage-clients"], async (request) => {
      const { handle, body, change, reply } = request;
      const client = await openClient(request);
      const fields = readClient(readObject(body));
      if (
        OWN_CLIENTS.includes(client.clientId) &&
        fields.clientId !== undefined &&
        fields.clientId !== client.clientId
      ) {
        throw badRequest(`Client ${client.clientId} is the service's own and keeps its name`);
      }
      await change({ operation: "UPDATE", resourceType: "CLIENT", resourcePath: `clients/${client.id}` }, (db) =>
        changeClient(db, handle.realm, client, fields),
      );
      return reply.code(204).send();
    }),
  );

  app.delete(
    `${base}/:client`,
    forRoles(context, ["manage-clients"], async (request) => {
      const { handle, change, reply } = request;
      const client = await openClient(request);
      if (OWN_CLIENTS.includes(client.clientId)) {
        throw badRequest(`Client ${client.clientId} is the service's own and cannot be deleted`);
      }
      await change(
        { operation: "DELETE", resourceType: "CLIENT", resourcePath: `clients/${client.id}` },
        async (db) => {
          await deleteClient(db, client.id);
          await publishChange(db, { kind: "client", realm: handle.realm.name, clientId: client.clientId });
        },
      );
      return reply.code(204).send();
    }),
  );

  app.get(
    `${base}/:client/client-secret`,
    forRoles(context, ["view-clients"], async (request) => {
      const { secret } = await openClient(request);
      return { type: "secret", ...(secret !== undefined && { value: secret }) };
    }),
  );

  app.post(
    `${base}/:client/client-secret`,
    forRoles(context, ["manage-clients"], async (request) => {
      const { handle, change } = request;
      const client = await openClient(request);
      if (client.settings.publicClient) {
        throw badRequest("A public client has no secret");
      }
      const secret = newSecret();
      await change(
        { operation: "ACTION", resourceType: "CLIENT", resourcePath: `clients/${client.id}/client-secret` },
        (db) => changeClient(db, handle.realm, client, { secret, settings: {} }),
      );
      return { type: "secret", value: secret };
    }),
  );

  app.get(
    `${base}/:client/service-account-user`,
    forRoles(context, ["view-clients"], async (request) => {
      const client = await openClient(request);
      const { pool } = context;
      const user =
        client.serviceUserId === undefined
          ? undefined
          : await findUser(pool, request.handle.realm.id, client.serviceUserId);
      if (user === undefined) {
        throw badRequest(`Service account not enabled for the client '${client.clientId}'`);
      }
      return toUserRepresentation(user);
    }),
  );
}
