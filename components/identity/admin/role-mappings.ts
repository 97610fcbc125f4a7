import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import type { Queryable } from "../store/database.ts";
import { findClientById } from "../store/clients.ts";
import { isUuid } from "../store/database.ts";
import { type Role, listRoles } from "../store/roles.ts";
import { listRolesWithin } from "../store/scope-roles.ts";
import { notFound } from "./errors.ts";
import { type AdminRequest, forRoles, readList } from "./request.ts";
import { findRoles, toRoleRepresentation } from "./role-records.ts";

type Rights = Parameters<typeof forRoles>[1][number];

/** What is named as having roles: a user or group holds them, a client or scope lets them through. */
interface Subject {
  readonly kind: string;
  readonly id: string;
}

export interface RoleMappingKind<S extends Subject> {
  /** Last part of the address, `role-mappings` or `scope-mappings`. */
  readonly name: string;
  /** Name of the resource in admin events. */
  readonly resourceType: string;
  readonly view: Rights;
  readonly manage: Rights;
  readonly list: (request: AdminRequest, subject: S) => Promise<readonly Role[]>;
  readonly add: (db: Queryable, subject: S, roles: readonly string[]) => Promise<void>;
  readonly remove: (db: Queryable, subject: S, roles: readonly string[]) => Promise<void>;
  readonly announceChange: (request: AdminRequest, db: Queryable, subject: S) => Promise<void>;
  /** @throws {AdminError} 403 when the caller may not give these roles */
  readonly refuseToAdd?: (request: AdminRequest, roles: readonly Role[]) => Promise<void>;
}

/** The client whose roles a request is about. @throws {AdminError} 404 */
async function openRoleOwner({ context, handle, params }: AdminRequest): Promise<string> {
  const id = params["owner"] ?? "";
  const client = isUuid(id) ? await findClientById(context.pool, handle.realm.id, id) : undefined;
  if (client === undefined) {
    throw notFound("Role client");
  }
  return client.id;
}

const show = ({ handle }: AdminRequest, roles: readonly Role[]) =>
  roles.map((role) => toRoleRepresentation(handle.realm.id, role));

/** Mappings of every owner: of the realm, and of each client by its `clientId`. */
async function showByOwner(request: AdminRequest, roles: readonly Role[]) {
  const { context, handle } = request;
  const ids = [...new Set(roles.flatMap(({ client }) => client ?? []))];
  const clients = await Promise.all(ids.map((id) => findClientById(context.pool, handle.realm.id, id)));
  return {
    realmMappings: show(
      request,
      roles.filter(({ client }) => client === undefined),
    ),
    clientMappings: Object.fromEntries(
      clients
        .flatMap((client) => client ?? [])
        .map(({ id, clientId }) => {
          const mappings = roles.filter(({ client }) => client === id);
          return [clientId, { id, client: clientId, mappings: show(request, mappings) }];
        }),
    ),
  };
}

/** Routes below `{subject}/{name}`: all mappings; of the realm or a client those held, available and effective. */
export function addRoleMappingRoutes<S extends Subject>(
  app: FastifyInstance,
  context: IdentityContext,
  subjectPath: string,
  openSubject: (request: AdminRequest) => Promise<S>,
  kind: RoleMappingKind<S>,
): void {
  const { pool } = context;
  const base = `${subjectPath}/${kind.name}`;
  const held = async (request: AdminRequest) => kind.list(request, await openSubject(request));

  app.get(
    base,
    forRoles(context, [kind.view], async (request) => showByOwner(request, await held(request))),
  );

  for (const [suffix, openOwner] of [
    ["realm", async () => undefined],
    ["clients/:owner", openRoleOwner],
  ] as const) {
    const path = `${base}/${suffix}`;
    /** Adds a GET whose answer is chosen from the roles held and all roles of the owner. */
    const addList = (
      address: string,
      choose: (roles: readonly Role[], all: readonly Role[]) => readonly Role[] | Promise<readonly Role[]>,
    ) =>
      app.get(
        address,
        forRoles(context, [kind.view], async (request) => {
          const owner = await openOwner(request);
          const all = await listRoles(pool, request.handle.realm.id, owner ?? null);
          return show(request, await choose(await held(request), all));
        }),
      );
    const without = (roles: readonly Role[], all: readonly Role[]) => {
      const ids = new Set(roles.map(({ id }) => id));
      return all.filter(({ id }) => !ids.has(id));
    };
    addList(path, (roles, all) => {
      const ids = new Set(all.map(({ id }) => id));
      return roles.filter(({ id }) => ids.has(id));
    });
    addList(`${path}/available`, without);
    addList(`${path}/composite`, async (roles, all) => {
      const within = await listRolesWithin(
        pool,
        roles.map(({ id }) => id),
      );
      return all.filter(({ id }) => within.includes(id));
    });

    for (const method of ["POST", "DELETE"] as const) {
      app.route({
        method,
        url: path,
        handler: forRoles(context, [kind.manage], async (request) => {
          const subject = await openSubject(request);
          const owner = await openOwner(request);
          // DELETE without a body takes them all.
          const roles =
            method === "DELETE" && (request.body === undefined || request.body === null)
              ? (await kind.list(request, subject)).filter(({ client }) => client === owner)
              : await findRoles(request, readList(request.body), owner ?? null);
          if (method === "POST") {
            await kind.refuseToAdd?.(request, roles);
          }
          const resourcePath = `${subject.kind}s/${subject.id}/${kind.name}`;
          const operation = method === "POST" ? "CREATE" : "DELETE";
          await request.change({ operation, resourceType: kind.resourceType, resourcePath }, async (db) => {
            const ids = roles.map(({ id }) => id);
            await (method === "POST" ? kind.add : kind.remove)(db, subject, ids);
            await kind.announceChange(request, db, subject);
          });
          return request.reply.code(204).send();
        }),
      });
    }
  }
}
