import { createHmac } from "node:crypto";

import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";

import { runChange } from "../admin/request.ts";
import type { IdentityContext } from "../context.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { type Queryable, isUuid } from "../store/database.ts";
import { insertEvent } from "../store/events.ts";
import { deletePasskey, findPasskey, insertPasskey, listPasskeys, notePasskeyUse } from "../store/passkeys.ts";
import { replaceRecoveryCodes } from "../store/second-factors.ts";
import { type User, updateUser } from "../store/users.ts";
import { makeRecoveryCodes } from "./one-time-codes.ts";
import { CONFIGURE_TOTP, hashesOf } from "./second-factor.ts";

/** What an authenticator answers is a few hundred bytes; with attestation some thousands. */
const MAX_ANSWER = 32_768;
/** EdDSA, ES256, RS256 (RFC 9053, RFC 8812). */
const ALGORITHMS = [-8, -7, -257];
const MAX_LABEL = 100;
/** Longer than a login may take. */
const CHALLENGE_MINUTES = 25 * 60;

/** Browsers have passkeys for names only, by a secure address or on this machine (Web Authentication §5.1.2, §13.4.9). */
export function mayUsePasskeys({ publicUrl }: Pick<IdentityContext, "publicUrl">): boolean {
  const { hostname, protocol } = new URL(publicUrl);
  const isAddress = /^[\d.]+$|^\[/.test(hostname);
  return !isAddress && (protocol === "https:" || hostname === "localhost" || hostname.endsWith(".localhost"));
}

const partyOf = ({ publicUrl }: IdentityContext) => {
  const { origin, hostname } = new URL(publicUrl);
  return { expectedOrigin: origin, expectedRPID: hostname };
};

/**
 * What an authenticator must sign: made of something that only this login or this session has, for one purpose. Nothing is kept until it
 * was signed; then it is taken, once.
 */
export function makeChallenge({ realm }: RealmHandle, purpose: string, id: string): string {
  return createHmac("sha256", `passkey ${realm.secret}`).update(`${purpose}\n${id}`).digest("base64url");
}

const takeChallenge = ({ takeOnce }: RealmHandle, challenge: string): Promise<boolean> =>
  takeOnce("passkey", challenge, new Date(Date.now() + CHALLENGE_MINUTES * 60_000));

const bytesOf = (base64url: string) => new Uint8Array(Buffer.from(base64url, "base64url"));
/** The id of a user as authenticators keep it. */
const handleOf = ({ id }: User) => new Uint8Array(Buffer.from(id));

/** Options for `navigator.credentials.create`, as JSON. */
export async function describeNewPasskey(
  context: IdentityContext,
  { realm }: RealmHandle,
  user: User,
  challenge: string,
): Promise<string> {
  const known = await listPasskeys(context.pool, user.id);
  return JSON.stringify(
    await generateRegistrationOptions({
      rpName: realm.displayName || realm.name,
      rpID: partyOf(context).expectedRPID,
      userName: user.username,
      userDisplayName: [user.firstName, user.lastName].filter(Boolean).join(" ") || user.username,
      userID: handleOf(user),
      challenge: bytesOf(challenge),
      excludeCredentials: known.map(({ credentialId, transports }) => ({
        id: credentialId,
        transports: [...transports],
      })),
      supportedAlgorithmIDs: ALGORITHMS,
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    }),
  );
}

/** Options for `navigator.credentials.get`, as JSON: of a user who is known, or of whoever has a passkey here. */
export async function describePasskeyUse(
  context: IdentityContext,
  user: User | undefined,
  challenge: string,
): Promise<string> {
  const known = user === undefined ? [] : await listPasskeys(context.pool, user.id);
  return JSON.stringify(
    await generateAuthenticationOptions({
      rpID: partyOf(context).expectedRPID,
      challenge: bytesOf(challenge),
      allowCredentials: known.map(({ credentialId, transports }) => ({
        id: credentialId,
        transports: [...transports],
      })),
      userVerification: "required",
    }),
  );
}

interface NewPasskey {
  readonly user: User;
  readonly challenge: string;
  /** What the browser sent, as JSON. */
  readonly answer: string;
  readonly label: string;
  readonly ip: string;
}

/**
 * Keeps the passkey of an answer, and makes recovery codes with the first factor.
 * @returns the recovery codes, to be shown once; `undefined` when the answer is not right
 */
export async function addPasskey(
  context: IdentityContext,
  handle: RealmHandle,
  { user, challenge, answer: reply, label, ip }: NewPasskey,
): Promise<readonly string[] | undefined> {
  const { realm } = handle;
  const response = readResponse(reply) as RegistrationResponseJSON | undefined;
  const found =
    response &&
    (await verifyOrNothing(() =>
      verifyRegistrationResponse({
        response,
        expectedChallenge: challenge,
        ...partyOf(context),
        requireUserVerification: true,
      }),
    ));
  if (found?.verified !== true || !(await takeChallenge(handle, challenge))) {
    return undefined;
  }
  const { id: credentialId, publicKey, counter, transports = [] } = found.registrationInfo.credential;
  const isFirst = !user.hasOtp && !user.hasPasskey;
  const codes = isFirst ? makeRecoveryCodes() : [];
  const isKept = await runChange(context, async (db) => {
    const passkey = {
      userId: user.id,
      credentialId,
      publicKey,
      counter,
      transports,
      label: label.trim().slice(0, MAX_LABEL) || "Passkey",
    };
    if (!(await insertPasskey(db, realm.id, passkey))) {
      return false;
    }
    if (isFirst) {
      await replaceRecoveryCodes(db, user.id, hashesOf(codes));
    }
    const requiredActions = user.requiredActions.filter((action) => action !== CONFIGURE_TOTP);
    await updateUser(db, user.id, { ...user, requiredActions });
    await insertEvent(db, realm.id, { type: "UPDATE_CREDENTIAL", userId: user.id, ip, details: { kind: "passkey" } });
    return true;
  });
  return isKept ? codes : undefined;
}

/**
 * Whose passkey answered the challenge; `undefined` where it is none of this realm, or not right.
 * @param userId whose it must be, where that is known
 */
export async function provePasskey(
  context: IdentityContext,
  handle: RealmHandle,
  {
    challenge,
    answer: reply,
    userId,
  }: { readonly challenge: string; readonly answer: string; readonly userId?: string },
): Promise<string | undefined> {
  const response = readResponse(reply) as AuthenticationResponseJSON | undefined;
  const passkey = response && (await findPasskey(context.pool, handle.realm.id, response.id));
  if (response === undefined || passkey === undefined || (userId !== undefined && passkey.userId !== userId)) {
    return undefined;
  }
  const { credentialId: id, publicKey, counter, transports } = passkey;
  const named = response.response.userHandle;
  if (named !== undefined && named !== null && Buffer.from(named, "base64url").toString() !== passkey.userId) {
    return undefined;
  }
  const found = await verifyOrNothing(() =>
    verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      ...partyOf(context),
      credential: { id, publicKey, counter, transports: [...transports] },
      requireUserVerification: true,
    }),
  );
  const isRight =
    found?.verified === true &&
    (await takeChallenge(handle, challenge)) &&
    (await notePasskeyUse(context.pool, passkey.id, found.authenticationInfo.newCounter));
  return isRight ? passkey.userId : undefined;
}

/** @returns false when the user has no such passkey */
export async function removePasskey(
  db: Queryable,
  { realm }: RealmHandle,
  { user, passkey, ip }: { readonly user: User; readonly passkey: string; readonly ip: string | undefined },
): Promise<boolean> {
  if (!isUuid(passkey) || !(await deletePasskey(db, user.id, passkey))) {
    return false;
  }
  if (!user.hasOtp && (await listPasskeys(db, user.id)).length === 0) {
    await replaceRecoveryCodes(db, user.id, []);
  }
  await insertEvent(db, realm.id, { type: "REMOVE_CREDENTIAL", userId: user.id, ip, details: { kind: "passkey" } });
  return true;
}

/** The shape that the library relies on; everything else it checks. */
function readResponse(text: string): object | undefined {
  if (text.length > MAX_ANSWER) {
    return undefined;
  }
  try {
    const { id, response } = Object(JSON.parse(text)) as { id?: unknown; response?: unknown };
    return typeof id === "string" && /^[\w-]{1,1400}$/.test(id) && typeof response === "object" && response !== null
      ? (JSON.parse(text) as object)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The library throws for whatever is wrong in an answer: to whoever sent it that is one thing. */
async function verifyOrNothing<T>(verify: () => Promise<T>): Promise<T | undefined> {
  try {
    return await verify();
  } catch {
    return undefined;
  }
}
