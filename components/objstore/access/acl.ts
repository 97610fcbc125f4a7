import type { Principal } from "./principal.ts";

export type Permission = "FULL_CONTROL" | "READ" | "WRITE" | "READ_ACP" | "WRITE_ACP";

/** Who gets a permission: somebody by the id that answers show as owner, or a group of callers. */
export type Grantee =
  | { readonly type: "CanonicalUser"; readonly id: string }
  | { readonly type: "Group"; readonly uri: string };

export interface Grant {
  readonly grantee: Grantee;
  readonly permission: Permission;
}

export interface Acl {
  readonly owner: string;
  readonly grants: readonly Grant[];
}

export const ALL_USERS = "http://acs.amazonaws.com/groups/global/AllUsers";
export const AUTHENTICATED_USERS = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers";
export const LOG_DELIVERY = "http://acs.amazonaws.com/groups/s3/LogDelivery";

/** Actions that a permission of a bucket's or an object's list gives, in lower case. */
const ACTIONS: ReadonlyMap<string, readonly [level: "bucket" | "object", permission: Permission]> = new Map(
  Object.entries<readonly [level: "bucket" | "object", permission: Permission]>({
    "s3:listbucket": ["bucket", "READ"],
    "s3:listbucketversions": ["bucket", "READ"],
    "s3:listbucketmultipartuploads": ["bucket", "READ"],
    "s3:putobject": ["bucket", "WRITE"],
    "s3:deleteobject": ["bucket", "WRITE"],
    "s3:abortmultipartupload": ["bucket", "WRITE"],
    "s3:listmultipartuploadparts": ["bucket", "WRITE"],
    "s3:getbucketacl": ["bucket", "READ_ACP"],
    "s3:putbucketacl": ["bucket", "WRITE_ACP"],
    "s3:getobject": ["object", "READ"],
    "s3:getobjectversion": ["object", "READ"],
    "s3:getobjectattributes": ["object", "READ"],
    "s3:getobjectversionattributes": ["object", "READ"],
    "s3:getobjectacl": ["object", "READ_ACP"],
    "s3:getobjectversionacl": ["object", "READ_ACP"],
    "s3:putobjectacl": ["object", "WRITE_ACP"],
    "s3:putobjectversionacl": ["object", "WRITE_ACP"],
  }),
);

/** Which list decides an action; undefined where none does. */
export function levelOf(action: string): "bucket" | "object" | undefined {
  return ACTIONS.get(action.toLowerCase())?.[0];
}

/** The id that lists and answers name a caller by. */
export function idOf(principal: Principal): string {
  return principal.kind === "anonymous" ? "anonymous" : principal.account === "" ? principal.name : principal.account;
}

/** Whether a list gives the caller what an action needs. `ignorePublic`: grants to everybody do not count. */
export function allowsByAcl(acl: Acl, principal: Principal, action: string, ignorePublic: boolean): boolean {
  const needed = ACTIONS.get(action.toLowerCase())?.[1];
  return acl.grants.some(
    ({ grantee, permission }) =>
      (permission === needed || permission === "FULL_CONTROL") &&
      !(ignorePublic && isPublic(grantee)) &&
      includes(grantee, principal),
  );
}

export function isPublicAcl({ grants }: Acl): boolean {
  return grants.some(({ grantee }) => isPublic(grantee));
}

function isPublic(grantee: Grantee): boolean {
  return grantee.type === "Group" && (grantee.uri === ALL_USERS || grantee.uri === AUTHENTICATED_USERS);
}

function includes(grantee: Grantee, principal: Principal): boolean {
  if (grantee.type === "Group") {
    return grantee.uri === ALL_USERS || (grantee.uri === AUTHENTICATED_USERS && principal.kind !== "anonymous");
  }
  return principal.kind !== "anonymous" && grantee.id === idOf(principal);
}

/** The list of what has none: its owner may do everything. */
export function toPrivateAcl(owner: string): Acl {
  return { owner, grants: [{ grantee: { type: "CanonicalUser", id: owner }, permission: "FULL_CONTROL" }] };
}

/** The list that a canned one stands for; undefined when there is none of that name. */
export function toCannedAcl(name: string, owner: string, bucketOwner: string): Acl | undefined {
  const full = toPrivateAcl(owner).grants;
  const group = (uri: string, ...permissions: Permission[]): Grant[] =>
    permissions.map((permission) => ({ grantee: { type: "Group", uri }, permission }));
  const user = (id: string, permission: Permission): Grant[] =>
    id === owner ? [] : [{ grantee: { type: "CanonicalUser", id }, permission }];
  const more: Readonly<Record<string, readonly Grant[]>> = {
    private: [],
    "public-read": group(ALL_USERS, "READ"),
    "public-read-write": group(ALL_USERS, "READ", "WRITE"),
    "authenticated-read": group(AUTHENTICATED_USERS, "READ"),
    "log-delivery-write": group(LOG_DELIVERY, "WRITE", "READ_ACP"),
    "bucket-owner-read": user(bucketOwner, "READ"),
    "bucket-owner-full-control": user(bucketOwner, "FULL_CONTROL"),
    "aws-exec-read": [],
  };
  const grants = more[name];
  return grants && { owner, grants: [...full, ...grants] };
}
