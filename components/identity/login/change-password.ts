import type { IdentityContext } from "../context.ts";
import { runChange } from "../admin/request.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { insertEvent } from "../store/events.ts";
import { endUserSessions } from "../store/sessions.ts";
import { type User, publishUserChange, listFormerPasswords, setPasswordHash, updateUser } from "../store/users.ts";
import { loadCommonPasswords } from "./common-passwords.ts";
import { MAX_PASSWORD } from "./hasher.ts";

/** The default of the deployment's passwords on a machine that others cannot reach; a user may have it there, too. */
export const DEMO_PASSWORD = "changeme";

/** Why a new password cannot be taken, for people; `undefined` when it can. The same for everybody, administrators among them. */
export async function refusePassword(
  { pool, hasher, demoPassword }: IdentityContext,
  { realm }: RealmHandle,
  { id, username }: Pick<User, "username"> & { readonly id?: string | undefined },
  password: string,
): Promise<string | undefined> {
  const { passwordMinimumLength: minimum, passwordHistory: former, passwordRefuseCommon } = realm.settings;
  if (password.length < minimum) {
    return `The new password is too short; it needs at least ${minimum} characters.`;
  }
  if (password.length > MAX_PASSWORD) {
    return `The new password is too long; at most ${MAX_PASSWORD} characters are allowed.`;
  }
  if (password.toLowerCase() === username) {
    return "The new password must not be the user name.";
  }
  if (passwordRefuseCommon && password !== demoPassword && (await loadCommonPasswords())(password, username)) {
    return "The new password is one of those that are tried first; take several words, or let a password manager make one.";
  }
  for (const hash of id === undefined || former === 0 ? [] : await listFormerPasswords(pool, id, former)) {
    if (await hasher.verify(hash, password)) {
      return `The new password must not be one of the last ${former}.`;
    }
  }
  return undefined;
}

interface NewPassword {
  readonly user: User;
  readonly password: string;
  /** Must be changed at the next login. */
  readonly temporary: boolean;
  /** The session that stays; all others of the user end. */
  readonly keepSession?: string | undefined;
  readonly ip?: string | undefined;
}

/** Stores a password and ends the user's other sessions: whoever knew the old one is out. */
export async function changePassword(
  context: IdentityContext,
  { realm }: RealmHandle,
  { user, password, temporary, keepSession, ip }: NewPassword,
): Promise<void> {
  const hash = await context.hasher.hash(password);
  await runChange(context, async (db) => {
    await setPasswordHash(db, user.id, { hash, temporary });
    await updateUser(db, user.id, {
      ...user,
      requiredActions: user.requiredActions.filter((action) => action !== "UPDATE_PASSWORD"),
    });
    await endUserSessions(db, { id: realm.id, name: realm.name }, user.id, keepSession);
    await publishUserChange(db, realm.name, user.id);
    await insertEvent(db, realm.id, { type: "UPDATE_PASSWORD", userId: user.id, ip });
  });
}
