import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../../context.ts";
import { listClientScopes } from "../../store/client-scopes.ts";
import { listClients } from "../../store/clients.ts";
import { listGroups } from "../../store/groups.ts";
import { findResourceServer } from "../../store/resource-servers.ts";
import { type Role, listRoles } from "../../store/roles.ts";
import { exportRules } from "../authz-settings.ts";
import { toClientRepresentation } from "../client-records.ts";
import { toClientScopeRepresentation } from "../client-scopes.ts";
import { badRequest } from "../errors.ts";
import { toGroupTree } from "../groups.ts";
import { toRealmRepresentation } from "../realms.ts";
import { type AdminRequest, forRoles, readObject, readText } from "../request.ts";
import { toRoleRepresentation } from "../role-records.ts";
import { ImportLog, MAX_DOCUMENT_BYTES, type OnConflict } from "./import-log.ts";
import { importRealm } from "./import-realm.ts";
import { hashPlainPasswords } from "./import-users.ts";

/** A realm as one document, out and in. Users and passwords are not part of what goes out. */
export function addRealmTransferRoutes(app: FastifyInstance, context: IdentityContext): void {
  const base = "/admin/realms/:realm";
  app.post(
    `${base}/partial-export`,
    forRoles(context, ["manage-realm"], (request) => exportRealm(request)),
  );
  app.post(
    `${base}/partialImport`,
    { bodyLimit: MAX_DOCUMENT_BYTES },
    forRoles(context, ["manage-realm"], async ({ handle, body, query, change }) => {
      const document = readObject(body);
      const log = new ImportLog({ onConflict: readOnConflict(document), isLenient: query["lenient"] === "true" });
      const passwordHashes = await hashPlainPasswords(context.hasher, document);
      const givesAdministration = query["administrators"] === "true";
      await change({ operation: "ACTION", resourceType: "REALM", resourcePath: "partialImport" }, (db) =>
        importRealm({ db, realm: handle.realm, passwordHashes, log, givesAdministration }, document),
      );
      const { results, notImported } = log;
      const count = (action: string) => results.filter((result) => result.action === action).length;
      return {
        overwritten: count("OVERWRITTEN"),
        added: count("ADDED"),
        skipped: count("SKIPPED"),
        results,
        ...(notImported.length > 0 && { notImported }),
      };
    }),
  );
}

/** @throws {AdminError} 400 */
function readOnConflict(document: Readonly<Record<string, unknown>>): OnConflict {
  const policy = readText(document, "ifResourceExists") ?? "FAIL";
  if (policy !== "FAIL" && policy !== "SKIP" && policy !== "OVERWRITE") {
    throw badRequest(`ifResourceExists is ${JSON.stringify(policy)}; allowed: FAIL, SKIP, OVERWRITE`);
  }
  return policy;
}

async function exportRealm({ context, handle, query }: AdminRequest): Promise<object> {
  const { pool } = context;
  const { realm } = handle;
  const show = (role: Role) => toRoleRepresentation(realm.id, role);
  const withClients = query["exportClients"] === "true";
  const withRoles = query["exportGroupsAndRoles"] === "true";
  const clients = withClients || withRoles ? await listClients(pool, realm.id, { first: 0, max: 10_000 }) : [];
  const scopes = await listClientScopes(pool, realm.id);
  return {
    ...toRealmRepresentation(realm),
    clientScopes: scopes.map(toClientScopeRepresentation),
    ...(withRoles && {
      groups: toGroupTree(await listGroups(pool, realm.id)),
      roles: {
        realm: (await listRoles(pool, realm.id, null)).map(show),
        client: Object.fromEntries(
          await Promise.all(
            clients.map(
              async ({ id, clientId }) => [clientId, (await listRoles(pool, realm.id, id)).map(show)] as const,
            ),
          ),
        ),
      },
    }),
    ...(withClients && {
      clients: await Promise.all(
        clients.map(async (client) => {
          const server = await findResourceServer(pool, client.id);
          const { secret, ...shown } = toClientRepresentation(client);
          return {
            ...shown,
            // Who reads an export must not be able to act as a client.
            ...(secret !== undefined && { secret: "**********" }),
            ...(server && { authorizationSettings: await exportRules(context, client, server) }),
          };
        }),
      ),
    }),
  };
}
