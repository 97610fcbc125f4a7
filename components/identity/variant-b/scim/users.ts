import type { User } from "../../store/users.ts";
import type { Column } from "./filter-sql.ts";
import { invalidValue } from "./errors.ts";
import { readText } from "./values.ts";

export const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User";
/** Attributes of the platform's own, as existing clients of the login service know them. */
export const PLATFORM_SCHEMA = "urn:ietf:params:scim:schemas:extension:gluu:2.0:User";

const attribute = (name: string) => `u.attributes -> '${name}' ->> 0`;

/** What filters and sorting know of a user. */
export const USER_COLUMNS_BY_ATTRIBUTE: Readonly<Record<string, Column>> = {
  id: { sql: "u.id::text", type: "exact" },
  username: { sql: "u.username", type: "text" },
  externalid: { sql: attribute("externalId"), type: "exact" },
  displayname: { sql: attribute("displayName"), type: "text" },
  nickname: { sql: attribute("nickname"), type: "text" },
  "name.givenname": { sql: "u.first_name", type: "text" },
  "name.familyname": { sql: "u.last_name", type: "text" },
  "name.formatted": { sql: "concat_ws(' ', u.first_name, u.last_name)", type: "text" },
  emails: { sql: "u.email", type: "text" },
  "emails.value": { sql: "u.email", type: "text" },
  active: { sql: "u.enabled", type: "boolean" },
  "meta.created": { sql: "u.created_at", type: "time" },
};

/** Texts of a user that are kept as attributes, by their names in SCIM. */
const TEXTS = [
  "externalId",
  "displayName",
  "profileUrl",
  "title",
  "userType",
  "preferredLanguage",
  "locale",
  "timezone",
];

/** A user as SCIM shows it (RFC 7643 §4.1). */
export function toScimUser(user: User, location: string): Record<string, unknown> {
  const { id, username, firstName, lastName, email, enabled, attributes, createdAt } = user;
  const own = (name: string) => (Object.hasOwn(attributes, name) ? attributes[name] : undefined);
  const formatted = [firstName, lastName].filter((part) => part !== undefined && part !== "").join(" ");
  const extension = Object.fromEntries(
    Object.entries(attributes)
      .filter(([name]) => !TEXTS.includes(name) && name !== "nickname")
      .map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
  return {
    schemas: [USER_SCHEMA, ...(Object.keys(extension).length > 0 ? [PLATFORM_SCHEMA] : [])],
    id,
    ...Object.fromEntries(TEXTS.flatMap((name) => (own(name)?.[0] === undefined ? [] : [[name, own(name)?.[0]]]))),
    userName: username,
    ...(formatted !== "" && {
      name: { ...(firstName && { givenName: firstName }), ...(lastName && { familyName: lastName }), formatted },
    }),
    ...(own("nickname")?.[0] !== undefined && { nickName: own("nickname")?.[0] }),
    ...(email !== undefined && { emails: [{ value: email, primary: true, type: "work" }] }),
    active: enabled,
    ...(Object.keys(extension).length > 0 && { [PLATFORM_SCHEMA]: extension }),
    meta: { resourceType: "User", created: createdAt.toISOString(), location },
  };
}

/** The representation of the admin API that says the same. @throws {ScimError} 400 */
export function toUserFields(resource: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const username = readText(resource, "userName");
  if (username === undefined || username === "") {
    throw invalidValue("userName is missing");
  }
  const name = toObject(resource["name"], "name");
  const emails = resource["emails"] ?? [];
  if (!Array.isArray(emails)) {
    throw invalidValue("emails must be a list");
  }
  const addresses = emails.map((item) => toObject(item, "emails"));
  const email = readText(addresses.find((item) => item["primary"] === true) ?? addresses[0] ?? {}, "value");
  const active = resource["active"] ?? true;
  if (typeof active !== "boolean") {
    throw invalidValue("active must be true or false");
  }
  const attributes: Record<string, readonly string[]> = {};
  for (const [key, value] of Object.entries(toObject(resource[PLATFORM_SCHEMA], PLATFORM_SCHEMA))) {
    if (value !== null && value !== undefined) {
      attributes[key] = (Array.isArray(value) ? value : [value]).map((item) =>
        typeof item === "string" ? item : JSON.stringify(item),
      );
    }
  }
  for (const key of TEXTS) {
    const text = readText(resource, key);
    if (text !== undefined) {
      attributes[key] = [text];
    }
  }
  const nickname = readText(resource, "nickName");
  return {
    username,
    firstName: readText(name, "givenName") ?? "",
    lastName: readText(name, "familyName") ?? "",
    email: email ?? "",
    enabled: active,
    attributes: { ...attributes, ...(nickname !== undefined && { nickname: [nickname] }) },
  };
}

function toObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) {
    return {};
  }
  if (typeof value !== "object" || Array.isArray(value)) {
    throw invalidValue(`${what} must be an object`);
  }
  return value as Readonly<Record<string, unknown>>;
}
