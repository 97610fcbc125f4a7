import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { refusePassword } from "../login/change-password.ts";
import { isUuid } from "../store/database.ts";
import { findFailures, forgetFailures, listAddressFailures } from "../store/login-failures.ts";
import { endSession, endUserSessions, listSessions } from "../store/sessions.ts";
import {
  publishUserChange,
  countUsers,
  deleteUser,
  findUser,
  findUserByName,
  listUsers,
  setPasswordHash,
} from "../store/users.ts";
import type { User, UserFilter } from "../store/users.ts";
import { AdminError, badRequest, notFound } from "./errors.ts";
import { type AdminRequest, forRoles, readBoolean, readList, readObject, readPage, readText } from "./request.ts";
import { toSessionRepresentation } from "./sessions.ts";
import { type PasswordHash, addUser, changeUser, readUser, toUserRepresentation } from "./user-records.ts";

/** @throws {AdminError} 404 */
export async function openUser({ context, handle, params }: AdminRequest): Promise<User> {
  const id = params["user"] ?? "";
  const user = isUuid(id) ? await findUser(context.pool, handle.realm.id, id) : undefined;
  if (user === undefined) {
    throw notFound("User");
  }
  return user;
}

/** `q=team:maps size:big`: attributes with their values. @throws {AdminError} 400 */
function readAttributeQuery(text: string | undefined): Readonly<Record<string, string>> {
  const pairs = (text ?? "").split(" ").filter((part) => part !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const colon = pair.indexOf(":");
      if (colon < 1) {
        throw badRequest(`q has ${JSON.stringify(pair)}; allowed: attribute:value, divided by spaces`);
      }
      return [pair.slice(0, colon), pair.slice(colon + 1).replace(/^"(.*)"$/, "$1")];
    }),
  );
}

/** `/admin/realms/{realm}/users` */
export function addUserRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool, hasher } = context;
  const base = "/admin/realms/:realm/users";

  /** Hashes outside of any transaction: it takes long, and connections are few. */
  const hashOf = async (
    { handle }: AdminRequest,
    username: string,
    credential: Readonly<Record<string, unknown>>,
    userId?: string,
  ): Promise<PasswordHash> => {
    const type = readText(credential, "type");
    if (type !== undefined && type !== "password") {
      throw badRequest(`credential type is ${JSON.stringify(type)}; allowed: password`);
    }
    const password = readText(credential, "value", 1000);
    if (password === undefined || password === "") {
      throw badRequest("credential value is missing: the password");
    }
    const refused = await refusePassword(context, handle, { id: userId, username }, password);
    if (refused !== undefined) {
      throw badRequest(refused);
    }
    return { hash: await hasher.hash(password), temporary: readBoolean(credential, "temporary") ?? false };
  };
  const filterOf = (query: AdminRequest["query"]): UserFilter => ({
    search: query["search"],
    username: query["username"],
    email: query["email"],
    firstName: query["firstName"],
    lastName: query["lastName"],
    ...(query["enabled"] !== undefined && { enabled: query["enabled"] === "true" }),
    exact: query["exact"] === "true",
    attributes: readAttributeQuery(query["q"]),
  });

  app.get(
    base,
    forRoles(context, ["view-users", "query-users"], async ({ handle, query }) =>
      (await listUsers(pool, handle.realm.id, { ...filterOf(query), ...readPage(query) })).map(toUserRepresentation),
    ),
  );
  app.get(
    `${base}/count`,
    forRoles(context, ["view-users", "query-users"], ({ handle, query }) =>
      countUsers(pool, handle.realm.id, filterOf(query)),
    ),
  );

  app.post(
    base,
    forRoles(context, ["manage-users"], async (request) => {
      const { handle, change, reply } = request;
      const { realm } = handle;
      const body = readObject(request.body);
      const fields = readUser(body);
      if (fields.id !== undefined && !isUuid(fields.id)) {
        throw badRequest("id must be a UUID");
      }
      const username = fields.username ?? "";
      if (username !== "" && (await findUserByName(pool, realm.id, username)) !== undefined) {
        throw new AdminError(409, "User exists with same username");
      }
      const [credential] = body["credentials"] === undefined ? [] : readList(body["credentials"]);
      const password = credential && (await hashOf(request, username, credential));
      const id = await change({ operation: "CREATE", resourceType: "USER", resourcePath: `users/${username}` }, (db) =>
        addUser(db, realm, fields, password),
      ).catch((error: unknown) => {
        if (error instanceof Error && "constraint" in error && error.constraint === "app_user_email") {
          throw new AdminError(409, "User exists with same email");
        }
        throw error;
      });
      return reply.code(201).header("location", `${context.publicUrl}/admin/realms/${realm.name}/users/${id}`).send();
    }),
  );

  app.get(
    `${base}/:user`,
    forRoles(context, ["view-users"], async (request) => toUserRepresentation(await openUser(request))),
  );

  app.put(
    `${base}/:user`,
    forRoles(context, ["manage-users"], async (request) => {
      const { handle, change, reply } = request;
      const { realm } = handle;
      const user = await openUser(request);
      const { id: _, ...fields } = readUser(readObject(request.body));
      await change({ operation: "UPDATE", resourceType: "USER", resourcePath: `users/${user.id}` }, async (db) => {
        await changeUser(db, realm, user, fields);
        if (fields.enabled === false) {
          await endUserSessions(db, realm, user.id);
        }
      });
      return reply.code(204).send();
    }),
  );

  app.delete(
    `${base}/:user`,
    forRoles(context, ["manage-users"], async (request) => {
      const { handle, change, reply, actor } = request;
      const { realm } = handle;
      const user = await openUser(request);
      if (user.id === actor.user.id) {
        throw badRequest("You cannot delete the account that you are using");
      }
      await change({ operation: "DELETE", resourceType: "USER", resourcePath: `users/${user.id}` }, async (db) => {
        await endUserSessions(db, realm, user.id);
        await deleteUser(db, user.id);
        await publishUserChange(db, realm.name, user.id);
      });
      return reply.code(204).send();
    }),
  );

  app.put(
    `${base}/:user/reset-password`,
    forRoles(context, ["manage-users"], async (request) => {
      const { handle, change, reply, actor } = request;
      const { realm } = handle;
      const user = await openUser(request);
      const password = await hashOf(request, user.username, readObject(request.body), user.id);
      await change(
        { operation: "ACTION", resourceType: "USER", resourcePath: `users/${user.id}/reset-password` },
        async (db) => {
          await setPasswordHash(db, user.id, password);
          // Who resets the own password stays logged in.
          if (user.id !== actor.user.id) {
            await endUserSessions(db, realm, user.id);
          }
          await forgetFailures(db, realm.id, { account: user.username });
        },
      );
      return reply.code(204).send();
    }),
  );

  app.get(
    `${base}/:user/sessions`,
    forRoles(context, ["view-users"], async (request) => {
      const user = await openUser(request);
      const sessions = await listSessions(pool, request.handle.realm.id, {
        userId: user.id,
        ...readPage(request.query),
      });
      return sessions.map(toSessionRepresentation);
    }),
  );
  app.post(
    `${base}/:user/logout`,
    forRoles(context, ["manage-users"], async (request) => {
      const { handle, change, reply } = request;
      const user = await openUser(request);
      await change({ operation: "ACTION", resourceType: "USER", resourcePath: `users/${user.id}/logout` }, (db) =>
        endUserSessions(db, handle.realm, user.id),
      );
      return reply.code(204).send();
    }),
  );

  app.delete(
    "/admin/realms/:realm/sessions/:session",
    forRoles(context, ["manage-users"], async (request) => {
      const { handle, params, change, reply } = request;
      const id = params["session"] ?? "";
      const ended = await change(
        { operation: "DELETE", resourceType: "USER_SESSION", resourcePath: `sessions/${id}` },
        (db) => endSession(db, handle.realm, id),
      );
      if (!ended) {
        throw notFound("Session");
      }
      return reply.code(204).send();
    }),
  );

  const addresses = "/admin/realms/:realm/attack-detection/brute-force/addresses";
  app.get(
    addresses,
    forRoles(context, ["view-users"], async ({ handle }) =>
      (await listAddressFailures(pool, handle.realm.id)).map((status) => ({
        ...status,
        lastFailure: status.lastFailure?.getTime() ?? 0,
      })),
    ),
  );
  app.delete(
    `${addresses}/:address`,
    forRoles(context, ["manage-users"], async ({ handle, params, change, reply }) => {
      const address = params["address"] ?? "";
      await change(
        { operation: "ACTION", resourceType: "ADDRESS", resourcePath: `addresses/${address}/unlock` },
        (db) => forgetFailures(db, handle.realm.id, { address }),
      );
      return reply.code(204).send();
    }),
  );
  app.delete(
    "/admin/realms/:realm/attack-detection/brute-force/users",
    forRoles(context, ["manage-users"], async ({ handle, change, reply }) => {
      await change({ operation: "ACTION", resourceType: "USER", resourcePath: "users/unlock" }, (db) =>
        forgetFailures(db, handle.realm.id),
      );
      return reply.code(204).send();
    }),
  );
  const bruteForce = "/admin/realms/:realm/attack-detection/brute-force/users/:user";
  app.get(
    bruteForce,
    forRoles(context, ["view-users"], async (request) => {
      const user = await openUser(request);
      const { numFailures, disabled, lastFailure } = await findFailures(pool, request.handle.realm.id, user.username);
      return { numFailures, disabled, lastFailure: lastFailure?.getTime() ?? 0 };
    }),
  );
  app.delete(
    bruteForce,
    forRoles(context, ["manage-users"], async (request) => {
      const { handle, change, reply } = request;
      const user = await openUser(request);
      await change({ operation: "ACTION", resourceType: "USER", resourcePath: `users/${user.id}/unlock` }, (db) =>
        forgetFailures(db, handle.realm.id, { account: user.username }),
      );
      return reply.code(204).send();
    }),
  );
}
