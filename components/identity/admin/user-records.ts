import { findConfusion } from "../login/user-names.ts";
import { joinDefaultGroups } from "../store/groups.ts";
import { publishUserChange, insertUser, setPasswordHash, updateUser } from "../store/users.ts";
import type { User, UserFields } from "../store/users.ts";
import type { Queryable } from "../store/database.ts";
import type { Realm } from "../store/realms.ts";
import { badRequest } from "./errors.ts";
import { readBoolean, readText, readTexts } from "./request.ts";

export function toUserRepresentation(user: User): Record<string, unknown> {
  return {
    id: user.id,
    createdTimestamp: user.createdAt.getTime(),
    username: user.username,
    enabled: user.enabled,
    totp: user.hasOtp,
    emailVerified: user.emailVerified,
    ...(user.firstName !== undefined && { firstName: user.firstName }),
    ...(user.lastName !== undefined && { lastName: user.lastName }),
    ...(user.email !== undefined && { email: user.email }),
    ...(Object.keys(user.attributes).length > 0 && { attributes: user.attributes }),
    requiredActions: user.requiredActions,
    disableableCredentialTypes: [],
    notBefore: 0,
    access: { manageGroupMembership: true, view: true, mapRoles: true, impersonate: false, manage: true },
  };
}

/** The fields of a user representation that were given. @throws {AdminError} 400 */
export function readUser(
  body: Readonly<Record<string, unknown>>,
): Partial<UserFields> & { readonly id?: string | undefined } {
  const username = readText(body, "username")?.trim().toLowerCase();
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  if (username !== undefined && !/^[^\u0000-\u0020\u007f/\\<>"'`;|*]{1,255}$/u.test(username)) {
    throw badRequest("username must be 1 to 255 characters, without spaces, quotes, slashes and the characters <>;|*");
  }
  const confusion = username === undefined ? undefined : findConfusion(username);
  if (confusion !== undefined) {
    throw badRequest(`username may be taken for another one: ${confusion}`);
  }
  if (username?.startsWith("service-account-")) {
    throw badRequest("usernames that begin with service-account- are for the accounts of clients");
  }
  const email = readText(body, "email");
  if (email !== undefined && email !== "" && !/^[^\s@<>"]{1,64}@[^\s@<>"]{1,190}$/.test(email)) {
    throw badRequest(`email is ${JSON.stringify(email)}; that is not an e-mail address`);
  }
  const provided: Record<string, unknown> = {
    username,
    email,
    emailVerified: readBoolean(body, "emailVerified"),
    firstName: readText(body, "firstName"),
    lastName: readText(body, "lastName"),
    enabled: readBoolean(body, "enabled"),
    attributes: readAttributes(body["attributes"]),
    requiredActions: readTexts(body, "requiredActions"),
    id: readText(body, "id"),
  };
  return Object.fromEntries(Object.entries(provided).filter(([, value]) => value !== undefined));
}

/** Attributes of a user, group or role. @throws {AdminError} 400 */
export function readAttributes(value: unknown): Readonly<Record<string, readonly string[]>> | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value !== "object" || Array.isArray(value)) {
    throw badRequest("attributes must be an object of lists of texts");
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      const texts = (Array.isArray(item) ? item : [item]).filter((each) => each !== null).map(String);
      return item === null ? [] : [[name, texts]];
    }),
  );
}

export interface PasswordHash {
  readonly hash: string;
  readonly temporary: boolean;
}

/** Adds a user and, when given, the password. Gives the id. */
export async function addUser(
  db: Queryable,
  realm: Realm,
  fields: Partial<UserFields> & { readonly id?: string | undefined; readonly createdAt?: Date | undefined },
  password: PasswordHash | undefined,
): Promise<string> {
  const { username } = fields;
  if (username === undefined || username === "") {
    throw badRequest("User name is missing");
  }
  const id = await insertUser(db, realm.id, { enabled: true, ...fields, username });
  await joinDefaultGroups(db, realm.id, id);
  if (password !== undefined) {
    await setPasswordHash(db, id, password);
  }
  return id;
}

/** Changes the given fields; what follows for tokens is told to everybody. */
export async function changeUser(db: Queryable, realm: Realm, user: User, fields: Partial<UserFields>): Promise<void> {
  await updateUser(db, user.id, { ...user, ...fields });
  await publishUserChange(db, realm.name, user.id);
}
