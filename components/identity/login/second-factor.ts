import type { IdentityContext } from "../context.ts";
import { runChange } from "../admin/request.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import type { Realm } from "../store/realms.ts";
import { insertEvent } from "../store/events.ts";
import { noteSuccess } from "../store/login-failures.ts";
import { type Queryable, isUuid } from "../store/database.ts";
import { listPasskeys } from "../store/passkeys.ts";
import {
  deleteOtpDevice,
  insertOtpDevice,
  listOtpDevices,
  replaceRecoveryCodes,
  takeOtpStep,
  takeRecoveryCode,
} from "../store/second-factors.ts";
import { type User, type UserAccess, updateUser } from "../store/users.ts";
import { noteFailure, waitForTurn } from "./limits.ts";
import { findOtpStep, hashRecoveryCode, makeRecoveryCodes } from "./one-time-codes.ts";

/** What a login needs beside the password: nothing, a code of a device that is set up, or a device first. */
export type SecondFactorNeed = "none" | "code" | "set-up";

export const CONFIGURE_TOTP = "CONFIGURE_TOTP";

export function findSecondFactorNeed({ realm }: RealmHandle, user: User, access: UserAccess): SecondFactorNeed {
  if (user.hasOtp || user.hasPasskey) {
    return "code";
  }
  return user.requiredActions.includes(CONFIGURE_TOTP) || needsByRole(realm, access) ? "set-up" : "none";
}

const needsByRole = ({ settings }: Realm, { realm: roles }: UserAccess): boolean =>
  settings.secondFactorRoles
    .split(",")
    .map((role) => role.trim())
    .some((role) => role !== "" && roles.includes(role));

interface CodeAttempt {
  readonly user: User;
  readonly code: string;
  readonly clientId?: string | undefined;
  readonly ip: string;
}

/**
 * Checks a one-time code or a recovery code, each good once. Wrong ones count as failed logins do, so that who knows the
 * password cannot try all of a million codes.
 */
export async function proveSecondFactor(
  { pool, loginPace }: IdentityContext,
  { realm }: RealmHandle,
  { user, code, clientId, ip }: CodeAttempt,
): Promise<"right" | "wrong" | "locked"> {
  const guesser = { username: user.username, ip };
  const isLocked = (await waitForTurn(pool, loginPace, realm, guesser)) !== undefined;
  const isRight = !isLocked && (await takeCode());
  if (isRight) {
    await noteSuccess(pool, realm.id, { account: user.username, address: ip });
    return "right";
  }
  if (!isLocked) {
    await noteFailure(pool, realm, guesser);
  }
  if (realm.settings.eventsEnabled) {
    await insertEvent(pool, realm.id, {
      type: "LOGIN_ERROR",
      userId: user.id,
      clientId,
      ip,
      error: isLocked ? "user_temporarily_disabled" : "invalid_second_factor",
      details: { username: user.username },
    });
  }
  return isLocked ? "locked" : "wrong";

  async function takeCode(): Promise<boolean> {
    const digits = code.replace(/\s/g, "");
    for (const { id, secret } of await listOtpDevices(pool, user.id)) {
      const step = findOtpStep(secret, digits);
      if (step !== undefined) {
        return takeOtpStep(pool, id, step);
      }
    }
    const hash = hashRecoveryCode(code);
    return hash !== undefined && takeRecoveryCode(pool, user.id, hash);
  }
}

/**
 * Keeps a device that has shown a right code, and makes recovery codes with the first one.
 * @returns the recovery codes, to be shown once; `undefined` when the code is wrong
 */
export async function setUpOtp(
  context: IdentityContext,
  { realm }: RealmHandle,
  {
    user,
    secret,
    code,
    label,
    ip,
  }: {
    readonly user: User;
    readonly secret: string;
    readonly code: string;
    readonly label: string;
    readonly ip: string;
  },
): Promise<readonly string[] | undefined> {
  const step = findOtpStep(secret, code.replace(/\s/g, ""));
  if (step === undefined) {
    return undefined;
  }
  const codes = user.hasOtp || user.hasPasskey ? [] : makeRecoveryCodes();
  await runChange(context, async (db) => {
    await insertOtpDevice(db, user.id, { label: label.trim().slice(0, 100) || "Authenticator", secret, step });
    if (codes.length > 0) {
      await replaceRecoveryCodes(db, user.id, hashesOf(codes));
    }
    await updateUser(db, user.id, {
      ...user,
      requiredActions: user.requiredActions.filter((action) => action !== CONFIGURE_TOTP),
    });
    await insertEvent(db, realm.id, { type: "UPDATE_TOTP", userId: user.id, ip });
  });
  return codes;
}

/** Removes a device; recovery codes go with the last one. @returns false when the user has no such device */
export async function removeOtpDevice(
  db: Queryable,
  { id: realmId }: Pick<Realm, "id">,
  { userId, device, ip }: { readonly userId: string; readonly device: string; readonly ip: string | undefined },
): Promise<boolean> {
  if (!isUuid(device) || !(await deleteOtpDevice(db, userId, device))) {
    return false;
  }
  if ((await listOtpDevices(db, userId)).length === 0 && (await listPasskeys(db, userId)).length === 0) {
    await replaceRecoveryCodes(db, userId, []);
  }
  await insertEvent(db, realmId, { type: "REMOVE_TOTP", userId, ip });
  return true;
}

/** New recovery codes; those before are good no more. */
export async function renewRecoveryCodes(context: IdentityContext, user: User): Promise<readonly string[]> {
  const codes = makeRecoveryCodes();
  await runChange(context, (db) => replaceRecoveryCodes(db, user.id, hashesOf(codes)));
  return codes;
}

export const hashesOf = (codes: readonly string[]) => codes.flatMap((code) => hashRecoveryCode(code) ?? []);
