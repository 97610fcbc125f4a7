import type { Bucket } from "../store/rows.ts";
import { type Acl, allowsByAcl, levelOf } from "./acl.ts";
import { parsePolicyCached } from "./policy-cache.ts";
import { type AuthorizationRequest, type Verdict, evaluatePolicy, mightAllow, withoutAccounts } from "./policy.ts";
import { type Principal, callerOf } from "./principal.ts";
import { isPublicPolicy } from "./public-policy.ts";

/** What is asked of a bucket or of an object in it. */
export interface Question extends Omit<AuthorizationRequest, "caller"> {
  /** The list that decides this action, where lists count; of an object that is there. */
  readonly acl?: Acl | undefined;
  /** Account of the object's owner, where that may be another than the bucket's. */
  readonly objectAccount?: string | undefined;
}

/**
 * The evaluation logic that AWS documents. An explicit Deny anywhere wins. What a key or a session was narrowed to must allow. Then,
 * within one account, the identity (as far as its boundary goes) or the resource must allow; across accounts both must.
 */
export function isAllowed(principal: Principal, bucket: Bucket | undefined, question: Question): boolean {
  if (principal.kind === "root") {
    return true;
  }
  const claims = principal.kind === "user" ? principal.claims : {};
  const full: AuthorizationRequest = {
    action: question.action,
    resource: question.resource,
    context: (key) => (claims[key] === undefined ? question.context(key) : [claims[key]]),
    caller: callerOf(principal),
  };
  const byBucket = judgeByBucket(principal, bucket, question, full);
  const byAcl = bucket !== undefined && isGranted(principal, bucket, question);
  if (byBucket === "deny") {
    return false;
  }
  if (principal.kind === "anonymous") {
    return byBucket === "allow" || byAcl;
  }
  const identity = evaluatePolicy(principal.identity, full);
  const boundary = principal.boundary === undefined ? "allow" : evaluatePolicy(principal.boundary, full);
  const limits = principal.limits.map((limit) => evaluatePolicy(limit, full));
  if (identity === "deny" || boundary === "deny" || !limits.every((verdict) => verdict === "allow")) {
    return false;
  }
  const byIdentity = (identity === "allow" || principal.ownsAccount) && boundary === "allow";
  const byResource = byBucket === "allow" || byAcl;
  const owner = question.objectAccount ?? bucket?.account ?? principal.account;
  if (owner !== principal.account) {
    return byIdentity && byResource;
  }
  return byIdentity || (isMember(principal) ? isNamed(bucket, question, full) : byResource);
}

/** Whether a caller is one of the users of an account of its own, and not who owns it. */
function isMember({ account, ownsAccount }: Extract<Principal, { readonly kind: "user" }>): boolean {
  return account !== "" && !ownsAccount;
}

/**
 * Whether the resource allows something to a member of its account by itself. What is given to the account is its owner's to give on:
 * only what names the user, or everybody, counts.
 */
function isNamed(bucket: Bucket | undefined, question: Question, full: AuthorizationRequest): boolean {
  if (bucket === undefined) {
    return false;
  }
  const policy = bucket.policy === null ? [] : withoutAccounts(parsePolicyCached(bucket.policy, bucket.name));
  return evaluatePolicy(policy, full) === "allow" || isGranted({ kind: "anonymous" }, bucket, question);
}

/** Whether the caller might be allowed an action on something in a bucket: asked before a body is read that says on what. */
export function mightBeAllowed(principal: Principal, bucket: Bucket, action: string): boolean {
  if (principal.kind === "root") {
    return true;
  }
  const caller = callerOf(principal);
  const byPolicy = bucket.policy !== null && mightAllow(parsePolicyCached(bucket.policy, bucket.name), action, caller);
  if (byPolicy || bucket.ownership !== "BucketOwnerEnforced") {
    return true;
  }
  return principal.kind === "user" && (principal.ownsAccount || mightAllow(principal.identity, action, caller));
}

/** Whether a policy of the caller's own, a bound or a limit says no to an action, whatever else allows it. */
export function isDenied(principal: Principal, question: Question): boolean {
  if (principal.kind !== "user") {
    return false;
  }
  const { identity, boundary = [], limits } = principal;
  const full: AuthorizationRequest = { ...question, caller: callerOf(principal) };
  return [identity, boundary, ...limits].some((policy) => evaluatePolicy(policy, full) === "deny");
}

function judgeByBucket(
  principal: Principal,
  bucket: Bucket | undefined,
  { action, objectAccount }: Question,
  full: AuthorizationRequest,
): Verdict {
  if (bucket?.policy === null || bucket === undefined) {
    return "none";
  }
  const policy = parsePolicyCached(bucket.policy, bucket.name);
  const verdict = evaluatePolicy(policy, full);
  if (verdict !== "allow") {
    return verdict;
  }
  // The owner of a bucket does not decide over what others own in it.
  const isOthers = levelOf(action) === "object" && objectAccount !== undefined && objectAccount !== bucket.account;
  const isStranger = principal.kind === "anonymous" || callerOf(principal).account !== bucket.account;
  const isRestricted =
    isStranger &&
    isBlocked(bucket, "RestrictPublicBuckets") &&
    (principal.kind === "anonymous" || isPublicPolicy(policy));
  return isOthers || isRestricted ? "none" : "allow";
}

function isGranted(principal: Principal, bucket: Bucket, { acl, action }: Question): boolean {
  return acl !== undefined && allowsByAcl(acl, principal, action, isBlocked(bucket, "IgnorePublicAcls"));
}

/** A switch of the public access block. */
export function isBlocked(
  { access_block: block }: Bucket,
  name: "BlockPublicAcls" | "IgnorePublicAcls" | "BlockPublicPolicy" | "RestrictPublicBuckets",
): boolean {
  return block?.includes(`"${name}":true`) ?? false;
}
