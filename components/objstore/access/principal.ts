import { S3Error } from "../errors.ts";
import type { AccessKey, Accounts } from "../store/accounts.ts";
import type { Bucket } from "../store/rows.ts";
import { recallPolicy } from "./policy-memory.ts";
import { type AccessQuestion, type Policy, evaluatePolicy } from "./policy.ts";

/** Who asks. */
export type Principal =
  | { readonly kind: "anonymous" }
  /** May do everything. */
  | { readonly kind: "root"; readonly name: string }
  | {
      readonly kind: "user";
      readonly name: string;
      /** All of them must allow: the user's policy and the key's own. */
      readonly policies: readonly Policy[];
      /** Must allow even what the policy of a bucket allows: what the session was narrowed to. */
      readonly limit?: Policy;
      /** Variables of policies taken from the identity token. */
      readonly claims: Readonly<Record<string, string>>;
    };

export function nameOf(principal: Principal): string {
  return principal.kind === "anonymous" ? "anonymous" : principal.name;
}

/** The principal behind an access key that has proved its secret. @throws {S3Error} when the key or its user is disabled */
export function toPrincipal(key: AccessKey, accounts: Accounts, rootUser: string): Principal {
  if (key.enabled === 0) {
    throw new S3Error("InvalidAccessKeyId", "The access key is disabled.");
  }
  const own = key.policy === null ? [] : [recallPolicy(key.policy)];
  const limit = key.session_policy === null ? undefined : { limit: recallPolicy(key.session_policy) };
  if (key.user === rootUser && key.claims === null) {
    if (own.length === 0 && limit === undefined) {
      return { kind: "root", name: rootUser };
    }
    // Narrowed, root may do what the narrowing says.
    return {
      kind: "user",
      name: rootUser,
      policies: own.length > 0 ? own : limit === undefined ? [] : [limit.limit],
      claims: {},
      ...limit,
    };
  }
  const claims = key.claims === null ? {} : (JSON.parse(key.claims) as Record<string, string>);
  if (key.claims !== null) {
    return { kind: "user", name: key.user, policies: own, claims, ...limit };
  }
  const user = accounts.findUser(key.user);
  if (user === undefined || user.enabled === 0) {
    throw new S3Error("InvalidAccessKeyId", "The user of this access key is disabled.");
  }
  return { kind: "user", name: user.name, policies: [recallPolicy(user.policy), ...own], claims, ...limit };
}

/** The rule of S3: an explicit Deny anywhere wins; else the user's policies or the bucket's policy must allow. */
export function isAllowed(
  principal: Principal,
  bucket: Bucket | undefined,
  question: Omit<AccessQuestion, "user">,
): boolean {
  if (principal.kind === "root") {
    return true;
  }
  const claims = principal.kind === "user" ? principal.claims : {};
  const full: AccessQuestion = {
    ...question,
    context: { ...question.context, ...claims },
    user: principal.kind === "user" ? principal.name : undefined,
  };
  const policies = principal.kind === "user" ? principal.policies : [];
  const identity = policies.map((policy) => evaluatePolicy(policy, full));
  if (principal.kind === "user" && principal.limit && evaluatePolicy(principal.limit, full) !== "allow") {
    return false;
  }
  const byBucket = bucket?.policy ? evaluatePolicy(recallPolicy(bucket.policy, bucket.name), full) : "none";
  if (identity.includes("deny") || byBucket === "deny") {
    return false;
  }
  if (principal.kind === "anonymous" && isRestricted(bucket)) {
    return false;
  }
  return byBucket === "allow" || (identity.length > 0 && identity.every((verdict) => verdict === "allow"));
}

/** RestrictPublicBuckets of the public access block. */
function isRestricted(bucket: Bucket | undefined): boolean {
  return bucket?.access_block?.includes('"RestrictPublicBuckets":true') ?? false;
}
