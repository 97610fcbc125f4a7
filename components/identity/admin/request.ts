import { inTransaction } from "@swath/postgres/pool";
import type { FastifyReply, FastifyRequest } from "fastify";
import type pg from "pg";

import type { IdentityContext } from "../context.ts";
import type { ManagementRole } from "../realms/create-realm.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { drainPublished } from "../store/changes.ts";
import { type AdminEvent, insertAdminEvent } from "../store/events.ts";
import { type Actor, findActor, requireRole } from "./authorize.ts";
import { badRequest, notFound } from "./errors.ts";

/** A request to the admin API of one realm by somebody who may make it. */
export interface AdminRequest {
  readonly context: IdentityContext;
  readonly handle: RealmHandle;
  readonly actor: Actor;
  /** Path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
  readonly reply: FastifyReply;
  /** Makes a change: all of it or nothing, noted in the realm's log of admin events. */
  readonly change: <Result>(
    event: Pick<AdminEvent, "operation" | "resourceType" | "resourcePath">,
    work: (db: pg.PoolClient) => Promise<Result>,
  ) => Promise<Result>;
}

export type AdminHandler = (request: AdminRequest) => unknown;

/** Wraps a handler: the realm exists, the caller holds one of the roles. */
export function forRoles(context: IdentityContext, roles: readonly ManagementRole[], handler: AdminHandler) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const params = request.params as Readonly<Record<string, string>>;
    const name = params["realm"] ?? "";
    const actor = await findActor(context, name, request);
    const handle = await context.realms.find(name);
    if (handle === undefined) {
      throw notFound("Realm");
    }
    requireRole(actor, ...roles);
    const { realm } = handle;
    void reply.header("cache-control", "no-store");
    return handler({
      context,
      handle,
      actor,
      params,
      query: firstValues(request.query),
      body: request.body,
      reply,
      change: (event, work) =>
        runChange(context, async (db) => {
          const result = await work(db);
          if (realm.settings.adminEventsEnabled) {
            await insertAdminEvent(db, realm.id, {
              ...event,
              actorId: actor.user.id,
              actorName: actor.user.username,
              actorClient: actor.clientId,
              ip: actor.ip,
            });
          }
          return result;
        }),
    });
  };
}

/** A transaction whose announcements this process hears before the answer is sent. */
export function runChange<Result>(
  { pool, changes }: IdentityContext,
  work: (db: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  return inTransaction(
    pool,
    (db) => {
      // Left over from one that was rolled back.
      drainPublished(db);
      return work(db);
    },
    { onCommit: (db) => drainPublished(db).forEach((change) => changes.events.emit("change", change)) },
  );
}

function firstValues(query: unknown): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries((query ?? {}) as Record<string, unknown>).map(([name, value]) => [
      name,
      String(Array.isArray(value) ? value[0] : value),
    ]),
  );
}

/** `first` and `max` of a list. @throws {AdminError} 400 */
export function readPage(
  query: AdminRequest["query"],
  fallback = 100,
): { readonly first: number; readonly max: number } {
  const read = (name: string, otherwise: number) => {
    const text = query[name];
    if (text === undefined) {
      return otherwise;
    }
    if (!/^-?\d{1,9}$/.test(text)) {
      throw badRequest(`${name} is ${JSON.stringify(text)}; allowed: a whole number`);
    }
    return Number(text);
  };
  const max = read("max", fallback);
  return { first: Math.max(0, read("first", 0)), max: max < 0 || max > 10_000 ? 10_000 : max };
}

/** A body that must be an object. @throws {AdminError} 400 */
export function readObject(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw badRequest("the body must be a JSON object");
  }
  return body as Readonly<Record<string, unknown>>;
}

/** A body that must be a list of objects. @throws {AdminError} 400 */
export function readList(body: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(body)) {
    throw badRequest("the body must be a JSON array");
  }
  return body.map(readObject);
}

/** A field that must be a text when it is there. @throws {AdminError} 400 */
export function readText(source: Readonly<Record<string, unknown>>, name: string, longest = 255): string | undefined {
  const value = source[name];
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value !== "string" || value.length > longest) {
    throw badRequest(`${name} must be a text of at most ${longest} characters`);
  }
  return value;
}

export function readBoolean(source: Readonly<Record<string, unknown>>, name: string): boolean | undefined {
  const value = source[name];
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value !== "boolean") {
    throw badRequest(`${name} must be true or false`);
  }
  return value;
}

/**
 * Attributes of a client or scope, an object of texts. Clients in Go and Java send null, and an empty text, for one that is not set.
 * @throws {AdminError} 400
 */
export function readTextRecord(value: unknown, name: string): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value !== "object" || Array.isArray(value)) {
    throw badRequest(`${name} must be an object of texts`);
  }
  const entries = Object.entries(value).filter(([, item]) => item !== null && item !== "");
  const wrong = entries.find(([, item]) => typeof item === "object");
  if (wrong !== undefined) {
    throw badRequest(`${name} must be an object of texts; ${JSON.stringify(wrong[0])} is none`);
  }
  return Object.fromEntries(entries.map(([key, item]) => [key, String(item)]));
}

/** A field that must be a list of texts when it is there. @throws {AdminError} 400 */
export function readTexts(source: Readonly<Record<string, unknown>>, name: string): readonly string[] | undefined {
  const value = source[name];
  if (value === undefined || value === null) {
    return undefined;
  }
  if (
    !Array.isArray(value) ||
    value.length > 1000 ||
    value.some((item) => typeof item !== "string" || item.length > 2048)
  ) {
    throw badRequest(`${name} must be a list of texts`);
  }
  return value as readonly string[];
}
