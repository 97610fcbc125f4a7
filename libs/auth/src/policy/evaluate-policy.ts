import { combine } from "./combine.ts";
import { reach } from "./identity-of.ts";
import { evaluateRules } from "./rules.ts";
import type { EvaluationContext, GroupReference, Policy, RoleReference, Identity, TimeWindow } from "./types.ts";

/** Values longer than this never match a regex policy: it bounds what a costly expression can be made to do. */
const MAX_REGEX_VALUE = 1024;

/**
 * Whether a policy votes for who asks. `undefined` when it cannot be decided (an unknown policy, a circle of aggregated
 * policies, a broken expression); callers refuse then, whatever the logic.
 */
export function evaluatePolicy(
  id: string,
  policies: ReadonlyMap<string, Policy>,
  context: EvaluationContext,
  inside: readonly string[] = [],
): boolean | undefined {
  const policy = policies.get(id);
  if (policy === undefined || inside.includes(id)) {
    return undefined;
  }
  const outcome = applyRule(policy, policies, context, [...inside, id]);
  return policy.logic === "NEGATIVE" && outcome !== undefined ? !outcome : outcome;
}

function applyRule(
  policy: Policy,
  policies: ReadonlyMap<string, Policy>,
  context: EvaluationContext,
  inside: readonly string[],
): boolean | undefined {
  const { identity, now } = context;
  switch (policy.type) {
    case "authenticated":
      return true;
    case "user":
      return (
        policy.users.includes(identity.userId) ||
        (identity.username !== undefined && policy.usernames?.includes(identity.username) === true)
      );
    case "role":
      return hasRoles(identity, policy.roles);
    case "client":
      return identity.clientId !== undefined && policy.clients.includes(identity.clientId);
    case "group":
      return policy.groups.some((group) => isMember(identity, group));
    case "time":
      return isInside(policy, now);
    case "regex":
      return matchesClaim(policy, context);
    case "rules":
      return policy.acceptedBy?.includes(identity.userId) === false
        ? false
        : evaluateRules(policy.rules, attributesOf(identity));
    case "aggregated": {
      const votes = policy.policies.map((child) => evaluatePolicy(child, policies, context, inside));
      return votes.length === 0 || votes.includes(undefined)
        ? undefined
        : combine(policy.decisionStrategy, votes as boolean[]);
    }
    default:
      // Policies come over the wire: a type that this version does not know decides nothing.
      return undefined;
  }
}

/** What rules may speak of: claims, and the names that clients of variant B know. */
function attributesOf({ claims, userId, username, realmRoles, groups }: Identity): Readonly<Record<string, unknown>> {
  return {
    ...claims,
    id: userId,
    sub: userId,
    ...(username !== undefined && { user_name: username, userName: username }),
    isOperator: realmRoles.includes("admin"),
    groups,
  };
}

function hasRoles(identity: Identity, roles: readonly RoleReference[]): boolean {
  const has = ({ role, client }: RoleReference) =>
    client === undefined
      ? identity.realmRoles.includes(role)
      : Object.hasOwn(identity.clientRoles, client) && (identity.clientRoles[client]?.includes(role) ?? false);
  return roles.some(has) && roles.every((reference) => reference.required !== true || has(reference));
}

function isMember(identity: Identity, { path, extendChildren }: GroupReference): boolean {
  return identity.groups.some(
    (group) => group === path || (extendChildren === true && group.startsWith(`${path.replace(/\/$/, "")}/`)),
  );
}

function isInside(window: TimeWindow, now: Date): boolean {
  const { notBefore, notOnOrAfter } = window;
  // Written so that an instant that is not a date refuses.
  if (notBefore !== undefined && !(now.getTime() >= Date.parse(notBefore))) {
    return false;
  }
  if (notOnOrAfter !== undefined && !(now.getTime() < Date.parse(notOnOrAfter))) {
    return false;
  }
  return (
    isBetween(now.getUTCFullYear(), window.year, window.yearEnd) &&
    isBetween(now.getUTCMonth() + 1, window.month, window.monthEnd) &&
    isBetween(now.getUTCDate(), window.dayMonth, window.dayMonthEnd) &&
    isBetween(now.getUTCHours(), window.hour, window.hourEnd) &&
    isBetween(now.getUTCMinutes(), window.minute, window.minuteEnd)
  );
}

function isBetween(value: number, start: number | undefined, end: number | undefined): boolean {
  if (start === undefined) {
    return end === undefined || value <= end;
  }
  return end === undefined ? value === start : value >= start && value <= end;
}

function matchesClaim(
  { targetClaim, pattern, targetContextAttributes }: Extract<Policy, { type: "regex" }>,
  { identity, attributes = {} }: EvaluationContext,
): boolean | undefined {
  let expression: RegExp;
  try {
    expression = new RegExp(`^(?:${pattern})$`, "u");
  } catch {
    return undefined;
  }
  const source = targetContextAttributes === true ? attributes : identity.claims;
  const found = reach(source, targetClaim);
  const values = Array.isArray(found) ? (found as readonly unknown[]) : [found];
  return values.some((value) => typeof value === "string" && value.length <= MAX_REGEX_VALUE && expression.test(value));
}
