import { S3Error } from "../errors.ts";
import { findManagedPolicy } from "../iam/managed-policies.ts";
import type { AccessKey, Accounts, User } from "../store/accounts.ts";
import { parsePolicyCached } from "./policy-cache.ts";
import type { Caller, Policy } from "./policy.ts";

/** Who asks. */
export type Principal =
  | { readonly kind: "anonymous" }
  /** May do everything. */
  | { readonly kind: "root"; readonly name: string; readonly account: "" }
  | {
      readonly kind: "user";
      readonly name: string;
      /** The deployment's own (empty), or that of a user who has one alone. */
      readonly account: string;
      /** May do everything with what belongs to the account, without a policy. */
      readonly ownsAccount: boolean;
      /** What the user, or the roles of a session, may do. */
      readonly identity: Policy;
      /** What the identity's policy may give at most. */
      readonly boundary?: Policy;
      /** All of them must allow whatever is done: what the key and the session were narrowed to. */
      readonly limits: readonly Policy[];
      /** Variables of policies taken from the identity token. */
      readonly claims: Readonly<Record<string, string>>;
    };

/** What lets root's narrowed keys do something at all. */
const EVERYTHING: Policy = parsePolicyCached(
  JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: "s3:*", Resource: "*" }] }),
);

export function nameOf(principal: Principal): string {
  return principal.kind === "anonymous" ? "anonymous" : principal.name;
}

export function callerOf(principal: Principal): Caller {
  return principal.kind === "anonymous"
    ? { user: undefined, account: "" }
    : { user: principal.name, account: principal.account };
}

/** The principal behind an access key that has proved its secret. @throws {S3Error} when the key or its user is disabled */
export function toPrincipal(key: AccessKey, accounts: Accounts, rootUser: string): Principal {
  if (key.enabled === 0) {
    throw new S3Error("InvalidAccessKeyId", "The access key is disabled.");
  }
  const session = key.session_policy === null ? [] : [parsePolicyCached(key.session_policy)];
  if (key.claims !== null) {
    // The policy of a session is that of its roles: what it may do at all.
    const identity = key.policy === null ? [] : parsePolicyCached(key.policy);
    const claims = JSON.parse(key.claims) as Record<string, string>;
    return { kind: "user", name: key.user, account: "", ownsAccount: false, identity, limits: session, claims };
  }
  const limits = [...(key.policy === null ? [] : [parsePolicyCached(key.policy)]), ...session];
  if (key.user === rootUser) {
    return limits.length === 0
      ? { kind: "root", name: rootUser, account: "" }
      : { kind: "user", name: rootUser, account: "", ownsAccount: false, identity: EVERYTHING, limits, claims: {} };
  }
  const user = accounts.findUser(key.user);
  if (user === undefined || user.enabled === 0) {
    throw new S3Error("InvalidAccessKeyId", "The user of this access key is disabled.");
  }
  return {
    kind: "user",
    name: user.name,
    account: user.account,
    ownsAccount: user.account === user.name,
    identity: toIdentity(user),
    ...(user.boundary !== null && { boundary: parsePolicyCached(user.boundary) }),
    limits,
    claims: {},
  };
}

const identities = new WeakMap<User, Policy>();

/** All policies of a user together, joined once as long as the row is remembered. */
function toIdentity(user: User): Policy {
  if (user.policies === null && user.attached === null) {
    return parsePolicyCached(user.policy);
  }
  let identity = identities.get(user);
  if (identity === undefined) {
    const inline = Object.values(JSON.parse(user.policies ?? "{}") as Record<string, string>);
    const attached = (JSON.parse(user.attached ?? "[]") as string[]).flatMap((arn) => findManagedPolicy(arn) ?? []);
    identity = [user.policy, ...inline, ...attached].flatMap((text) => parsePolicyCached(text));
    identities.set(user, identity);
  }
  return identity;
}
