import type { FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import { findWait, noteFailure } from "../login/limits.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { type EventType, insertEvent } from "../store/events.ts";
import { noteSuccess } from "../store/login-failures.ts";
import { findPassword } from "../store/users.ts";
import type { BrowserSession } from "./browser-session.ts";

export type Params = { Params: { realm: string } };

export interface ConsoleContext {
  readonly context: IdentityContext;
  readonly handle: RealmHandle;
  readonly session: BrowserSession;
  readonly request: FastifyRequest<Params>;
  readonly reply: FastifyReply;
}

export interface Notice {
  readonly good?: string;
  readonly bad?: string;
}

export type AccountForm = Readonly<Record<string, string>>;

/**
 * Compares what was typed with the password of the user: what changes how they log in needs it, so that a stolen session does
 * not become a stolen account. `failure` is the event of a wrong one.
 * @returns what is wrong, for people
 */
export async function refuseWrongPassword(
  { context: { pool, hasher }, handle: { realm }, session: { user }, request }: ConsoleContext,
  password: string | undefined,
  failure: EventType,
): Promise<string | undefined> {
  // The same count as for logins, so that a stolen session is no way to guess.
  const guesser = { username: user.username, ip: request.ip };
  const stored = await findPassword(pool, user.id);
  // In one turn, so that of many that come at once none is compared after there were too many.
  const outcome = await hasher.inTurn(async (compare) => {
    if ((await findWait(pool, realm, guesser)) !== undefined) {
      return "locked";
    }
    if (await compare(stored?.hash, password ?? "")) {
      return "right";
    }
    await noteFailure(pool, realm, guesser);
    return "wrong";
  });
  if (outcome === "locked") {
    return "There were too many failed attempts; wait some minutes.";
  }
  if (outcome === "wrong") {
    await insertEvent(pool, realm.id, {
      type: failure,
      userId: user.id,
      ip: request.ip,
      error: "invalid_user_credentials",
    });
    return "The current password is not right.";
  }
  await noteSuccess(pool, realm.id, { account: user.username, address: request.ip });
  return undefined;
}
