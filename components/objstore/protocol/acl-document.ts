import {
  type Acl,
  type Grant,
  type Grantee,
  type Permission,
  ALL_USERS,
  AUTHENTICATED_USERS,
  LOG_DELIVERY,
} from "../access/acl.ts";
import { S3Error } from "../errors.ts";
import { type S3Request, header } from "./request.ts";
import { type XmlNode, childOf, childrenOf, escapeXml, parseXml, textOf } from "./xml.ts";

const HEADERS: Readonly<Record<string, Permission>> = {
  "x-amz-grant-full-control": "FULL_CONTROL",
  "x-amz-grant-read": "READ",
  "x-amz-grant-write": "WRITE",
  "x-amz-grant-read-acp": "READ_ACP",
  "x-amz-grant-write-acp": "WRITE_ACP",
};
const PERMISSIONS: readonly string[] = Object.values(HEADERS);
const GROUPS: readonly string[] = [ALL_USERS, AUTHENTICATED_USERS, LOG_DELIVERY];
const MAXIMUM_GRANTS = 100;

/** What is known of the people that lists name. */
export interface Directory {
  /** Whether answers show somebody by this id. */
  readonly isKnown: (id: string) => boolean;
  readonly findByEmail: (email: string) => string | undefined;
}

/** Grants of `x-amz-grant-…` headers; undefined when there is none. @throws {S3Error} InvalidArgument */
export function readGrantHeaders(request: S3Request, directory: Directory): readonly Grant[] | undefined {
  const grants = Object.entries(HEADERS).flatMap(([name, permission]) => {
    const text = header(request, name);
    return text === undefined
      ? []
      : text.split(",").map((item): Grant => {
          const [, kind = "", value = ""] = /^\s*(\w+)\s*=\s*"?([^"]*)"?\s*$/.exec(item) ?? [];
          return { grantee: toGrantee(kind, value, directory), permission };
        });
  });
  return grants.length === 0 ? undefined : grants;
}

function toGrantee(kind: string, value: string, { isKnown, findByEmail }: Directory): Grantee {
  switch (kind.toLowerCase()) {
    case "id":
      if (!isKnown(value)) {
        throw new S3Error("InvalidArgument", "Invalid id", {
          details: { ArgumentName: "id", ArgumentValue: value.slice(0, 200) },
        });
      }
      return { type: "CanonicalUser", id: value };
    case "uri":
      if (!GROUPS.includes(value)) {
        throw new S3Error("InvalidArgument", "Invalid group uri", {
          details: { ArgumentName: "uri", ArgumentValue: value.slice(0, 200) },
        });
      }
      return { type: "Group", uri: value };
    case "emailaddress": {
      const id = findByEmail(value);
      if (id === undefined) {
        throw new S3Error("UnresolvableGrantByEmailAddress");
      }
      return { type: "CanonicalUser", id };
    }
    default:
      throw new S3Error("InvalidArgument", 'A grant names its grantee as id="…", uri="…" or emailAddress="…".');
  }
}

/** Reads an AccessControlPolicy. @throws {S3Error} MalformedACLError, InvalidArgument, UnresolvableGrantByEmailAddress */
export function parseAcl(text: string, directory: Directory): Acl {
  const document = parseXml(text, "AccessControlPolicy");
  const owner = textOf(childOf(document, "Owner"), "ID");
  const list = childrenOf(childOf(document, "AccessControlList"), "Grant");
  if (owner === undefined || childOf(document, "AccessControlList") === undefined || list.length > MAXIMUM_GRANTS) {
    throw new S3Error("MalformedACLError");
  }
  return { owner, grants: list.map((grant) => parseGrant(grant, directory)) };
}

function parseGrant(node: XmlNode, directory: Directory): Grant {
  const grantee = childOf(node, "Grantee");
  const permission = textOf(node, "Permission");
  if (grantee === undefined || permission === undefined || !PERMISSIONS.includes(permission)) {
    throw new S3Error("MalformedACLError");
  }
  for (const [element, kind] of [
    ["ID", "id"],
    ["URI", "uri"],
    ["EmailAddress", "emailAddress"],
  ] as const) {
    const value = textOf(grantee, element);
    if (value !== undefined) {
      return { grantee: toGrantee(kind, value, directory), permission: permission as Permission };
    }
  }
  throw new S3Error("MalformedACLError");
}

/** The document of a list. Written as text: clients look for the type of the grantee, which is an attribute. */
export function renderAcl({ owner, grants }: Acl): string {
  const person = (id: string) => `<ID>${escapeXml(id)}</ID><DisplayName>${escapeXml(id)}</DisplayName>`;
  // Groups first, as S3 lists them.
  const ordered = [...grants].sort((a, b) => Number(b.grantee.type === "Group") - Number(a.grantee.type === "Group"));
  const items = ordered.map(({ grantee, permission }) => {
    const content = grantee.type === "Group" ? `<URI>${escapeXml(grantee.uri)}</URI>` : person(grantee.id);
    return `<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${grantee.type}">${content}</Grantee><Permission>${permission}</Permission></Grant>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<AccessControlPolicy xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Owner>${person(owner)}</Owner><AccessControlList>${items.join("")}</AccessControlList></AccessControlPolicy>`;
}
