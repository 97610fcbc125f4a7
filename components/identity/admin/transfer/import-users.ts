import type { PasswordHasher } from "../../login/hasher.ts";
import { insertOtpDevice, listOtpDevices } from "../../store/second-factors.ts";
import { findClient } from "../../store/clients.ts";
import { isUuid } from "../../store/database.ts";
import { addMember, findGroupByPath } from "../../store/groups.ts";
import { giveRoles } from "../../store/roles.ts";
import { findUserByName, setPasswordHash } from "../../store/users.ts";
import { badRequest } from "../errors.ts";
import { readList, readText, readTexts } from "../request.ts";
import { addUser, readUser } from "../user-records.ts";
import type { Body, RealmImport } from "./import-realm.ts";
import { findPlainPassword, readImportedCredential } from "./imported-credentials.ts";
import type { NamedRoles } from "./named-roles.ts";

/** Parts of a UserRepresentation that say more than this service keeps. */
const UNREAD = ["federatedIdentities", "federationLink", "clientConsents", "socialLinks"];

/** Users of one document: it is one transaction, and connections are few. */
const MAX_USERS = 2000;
/** Each costs as much as a login. */
const MAX_PLAIN_PASSWORDS = 200;

/**
 * Hashes the passwords that a document has in clear text, before the transaction that writes them. Gives the hashes by the credentials
 * of the document.
 * @throws {AdminError} 400 for more users or passwords than one document may have
 */
export async function hashPlainPasswords(
  hasher: PasswordHasher,
  { users }: Body,
): Promise<ReadonlyMap<unknown, string>> {
  const list: readonly unknown[] = Array.isArray(users) ? users : [];
  if (list.length > MAX_USERS) {
    throw badRequest(`users has ${list.length} entries; allowed: ${MAX_USERS} in one request`);
  }
  const plain = list
    .flatMap((user) => (Object(user) as Body)["credentials"] ?? [])
    .flatMap((credential) => {
      const password = findPlainPassword(Object(credential) as Body);
      return password === undefined ? [] : [{ credential, password }];
    });
  if (plain.length > MAX_PLAIN_PASSWORDS) {
    throw badRequest(
      `users have ${plain.length} passwords in clear text; allowed: ${MAX_PLAIN_PASSWORDS} in one request, any number of hashes`,
    );
  }
  const hashes = new Map<unknown, string>();
  for (const { credential, password } of plain) {
    hashes.set(credential, await hasher.hash(password));
  }
  return hashes;
}

/** Brings in users who are not there yet, with their ids, passwords, one-time codes, roles and groups. */
export async function importUsers(target: RealmImport, named: NamedRoles, items: readonly Body[]): Promise<void> {
  for (const item of items) {
    const username = readText(item, "username") ?? "";
    await target.log.take(target.db, "USER", username, () => importUser(target, named, item));
  }
}

async function importUser(target: RealmImport, named: NamedRoles, item: Body): Promise<void> {
  const { db, realm, log } = target;
  const client = readText(item, "serviceAccountClientId");
  const userId =
    client === undefined ? await addImported(target, item) : (await findClient(db, realm.id, client))?.serviceUserId;
  const username = readText(item, "username") ?? "";
  if (userId === undefined) {
    if (client !== undefined) {
      log.leaveOut("USER", username, `its client ${client} is not there, or has no service account`);
    }
    return;
  }
  const held = named.readHeld({ realm: item["realmRoles"], clients: item["clientRoles"] }, "USER", username);
  await giveRoles(
    db,
    { kind: "user", id: userId },
    held.map(({ id }) => id),
  );
  for (const path of readTexts(item, "groups") ?? []) {
    const group = await findGroupByPath(db, realm.id, path);
    if (group === undefined) {
      log.leaveOut("USER", username, `the group ${path} is not there`);
    } else {
      await addMember(db, userId, group.id);
    }
  }
  for (const name of UNREAD) {
    const value = item[name];
    if (value !== undefined && value !== null && Object.keys(value as object).length > 0) {
      log.leaveOut("USER", username, `${name} has no counterpart here`);
    }
  }
}

/** Adds the account itself. @returns its id; undefined where it was there already */
async function addImported({ db, realm, passwordHashes, log }: RealmImport, item: Body): Promise<string | undefined> {
  const { username = "", id, ...fields } = readUser(item);
  const present = await findUserByName(db, realm.id, username);
  if (present !== undefined) {
    if (log.meet("USER", username, true)) {
      // Passwords and rights of an account that is there are not for a document to change.
      log.leaveOut("USER", username, "the account is there already; it stays as it is");
    }
    return undefined;
  }
  const created = Number(item["createdTimestamp"]);
  const createdAt =
    Number.isSafeInteger(created) && created > 0 && created <= Date.now() ? new Date(created) : undefined;
  const isFree = id !== undefined && isUuid(id) && !(await isTaken(id));
  if (id !== undefined && !isFree) {
    log.leaveOut("USER", username, `its id ${id} ${isUuid(id) ? "is taken" : "is no UUID"}; it has another one now`);
  }
  const userId = await addUser(db, realm, { username, ...fields, createdAt, ...(isFree && { id }) }, undefined);
  for (const source of item["credentials"] === undefined || item["credentials"] === null
    ? []
    : readList(item["credentials"])) {
    const credential = readImportedCredential(source);
    if (credential.kind === "unsupported") {
      log.leaveOut("USER", username, credential.why);
    } else if (credential.kind === "otp") {
      const { secret, label } = credential;
      if (!(await listOtpDevices(db, userId)).some((device) => device.secret === secret)) {
        await insertOtpDevice(db, userId, { secret, label: label.slice(0, 100), step: 0 });
      }
    } else {
      const hash = credential.kind === "hash" ? credential.hash : passwordHashes.get(source);
      if (hash === undefined) {
        throw new Error("a password of a document was not hashed before its import");
      }
      await setPasswordHash(db, userId, { hash, temporary: credential.temporary });
    }
  }
  log.meet("USER", username, false);
  return userId;

  async function isTaken(candidate: string): Promise<boolean> {
    const { rowCount } = await db.query("select from app_user where id = $1", [candidate]);
    return (rowCount ?? 0) > 0;
  }
}
