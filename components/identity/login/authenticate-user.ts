import type { IdentityContext } from "../context.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { insertEvent } from "../store/events.ts";
import { noteSuccess } from "../store/login-failures.ts";
import { findWait, noteFailure, waitForTurn } from "./limits.ts";
import { type User, type UserAccess, findLogin, findPassword, renewPasswordHash } from "../store/users.ts";

export interface Attempt {
  readonly username: string;
  readonly password: string;
  readonly clientId: string;
  readonly ip: string;
}

export type LoginResult =
  | { readonly kind: "in"; readonly user: User; readonly access: UserAccess; readonly mustChangePassword: boolean }
  /** `locked` and `wrong` must look the same to who does not know the password, except that waiting helps. */
  | { readonly kind: "wrong" | "disabled" }
  | { readonly kind: "locked"; readonly until: Date };

/**
 * Checks a user name (or e-mail address) and password. Takes as long for a user who does not exist; counts failures of the
 * user at this address, which must wait once there were too many, and of each alone, which then delays tries.
 */
export async function authenticateUser(
  { pool, hasher, loginPace }: IdentityContext,
  { realm }: RealmHandle,
  attempt: Attempt,
): Promise<LoginResult> {
  const { settings } = realm;
  const name = attempt.username.trim().toLowerCase().slice(0, 255);
  const record = name === "" ? undefined : await findLogin(pool, realm.id, name);
  // Counted by account, so that the e-mail address is no second chance; unknown names are counted too and look the same.
  const account = record?.user.username ?? name;
  const guesser = { username: account, ip: attempt.ip };
  const refuse = async (error: string, result: LoginResult): Promise<LoginResult> => {
    if (settings.eventsEnabled) {
      await insertEvent(pool, realm.id, {
        type: "LOGIN_ERROR",
        userId: record?.user.id,
        clientId: attempt.clientId,
        ip: attempt.ip,
        error,
        details: { username: name },
      });
    }
    return result;
  };
  // Looked at before the turn of the hasher, so that who is locked keeps nobody waiting, and again in it: many that came at once would
  // all have found no lock yet.
  let until = await waitForTurn(pool, loginPace, realm, guesser);
  const isRight =
    until === undefined &&
    (await hasher.inTurn(async (compare) => {
      until = await findWait(pool, realm, guesser);
      if (until !== undefined) {
        return false;
      }
      const fits = await compare(record?.passwordHash, attempt.password);
      if (!fits) {
        await noteFailure(pool, realm, guesser);
      }
      return fits;
    }));
  if (until !== undefined) {
    return refuse("user_temporarily_disabled", { kind: "locked", until });
  }
  if (record === undefined || !isRight) {
    return refuse(record === undefined ? "user_not_found" : "invalid_user_credentials", { kind: "wrong" });
  }
  const { user, access } = record;
  if (!user.enabled) {
    return refuse("user_disabled", { kind: "disabled" });
  }
  await noteSuccess(pool, realm.id, { account, address: attempt.ip });
  if (record.passwordHash !== undefined && hasher.isForeign(record.passwordHash)) {
    await renewPasswordHash(pool, user.id, { from: record.passwordHash, to: await hasher.hash(attempt.password) });
  }
  const password = await findPassword(pool, user.id);
  const mustChangePassword = password?.temporary === true || user.requiredActions.includes("UPDATE_PASSWORD");
  return { kind: "in", user, access, mustChangePassword };
}
