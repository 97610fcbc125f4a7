import { S3Error } from "../errors.ts";
import { isActionPattern } from "./actions.ts";
import { type Condition, type Context, holds, isRecord, parseConditions, readTexts } from "./conditions.ts";
import { isLike } from "./like.ts";

/** Who asks, as policies name it. */
export interface Caller {
  /** User name; undefined for anonymous requests. */
  readonly user: string | undefined;
  /** Account of the caller; empty for the deployment's own. */
  readonly account: string;
}

/** What is asked: an action on a resource under circumstances. */
export interface AuthorizationRequest {
  readonly action: string;
  /** `bucket` or `bucket/key`; empty for the service. */
  readonly resource: string;
  readonly context: Context;
  readonly caller: Caller;
}

interface PrincipalPattern {
  readonly kind: "everybody" | "account" | "user" | "service";
  readonly name: string;
  /** Undefined: of any account, as ARNs without one say. */
  readonly account?: string | undefined;
}

export interface Statement {
  readonly effect: "Allow" | "Deny";
  readonly principals: readonly PrincipalPattern[] | undefined;
  readonly notPrincipals: boolean;
  readonly actions: readonly string[];
  readonly notActions: boolean;
  readonly resources: readonly string[];
  readonly notResources: boolean;
  readonly conditions: readonly Condition[];
}

export type Policy = readonly Statement[];
export type Verdict = "allow" | "deny" | "none";

const FIELDS = [
  "Sid",
  "Effect",
  "Principal",
  "NotPrincipal",
  "Action",
  "NotAction",
  "Resource",
  "NotResource",
  "Condition",
];

/**
 * Reads a policy document and refuses what it does not understand, so that no statement is ever ignored.
 * @param bucket the bucket it belongs to; such a policy must name principals and only this bucket
 * @throws {S3Error} MalformedPolicy
 */
export function parsePolicy(text: string, bucket?: string): Policy {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new S3Error("MalformedPolicy", "Policies must be valid JSON and the first byte must be '{'", {
      cause: error,
    });
  }
  if (!isRecord(document) || !("Statement" in document)) {
    throw new S3Error("MalformedPolicy", "Missing required field Statement");
  }
  const strange = Object.keys(document).find((name) => !["Version", "Id", "Statement"].includes(name));
  if (strange !== undefined) {
    throw new S3Error("MalformedPolicy", `Unknown field ${strange}; allowed: Version, Id, Statement`);
  }
  const { Version: version, Statement: list } = document;
  if (version !== undefined && version !== "2012-10-17" && version !== "2008-10-17") {
    throw new S3Error("MalformedPolicy", 'Version must be "2012-10-17".');
  }
  const statements = Array.isArray(list) ? (list as unknown[]) : [list];
  return statements.map((statement) => parseStatement(statement, bucket));
}

function parseStatement(value: unknown, bucket: string | undefined): Statement {
  if (!isRecord(value)) {
    throw new S3Error("MalformedPolicy", "A statement must be an object.");
  }
  const strange = Object.keys(value).find((name) => !FIELDS.includes(name));
  if (strange !== undefined) {
    throw new S3Error("MalformedPolicy", `Unknown field ${strange}; allowed: ${FIELDS.join(", ")}`);
  }
  const effect = value["Effect"];
  if (effect !== "Allow" && effect !== "Deny") {
    throw new S3Error("MalformedPolicy", "Effect must be Allow or Deny.");
  }
  const either = (name: string) => {
    const not = `Not${name}`;
    if ((value[name] === undefined) === (value[not] === undefined)) {
      throw new S3Error("MalformedPolicy", `A statement must have either ${name} or ${not}.`);
    }
    return { list: readTexts(value[name] ?? value[not], name), not: value[name] === undefined };
  };
  const actions = either("Action");
  const badAction = actions.list.find((action) => !isActionPattern(action, isLike, bucket === undefined));
  if (badAction !== undefined) {
    throw new S3Error("MalformedPolicy", `Policy has invalid action ${badAction}`);
  }
  const resources = either("Resource");
  const patterns = resources.list.map((resource) => toResource(resource, bucket));
  const principal = value["Principal"] ?? value["NotPrincipal"];
  if (value["Principal"] !== undefined && value["NotPrincipal"] !== undefined) {
    throw new S3Error("MalformedPolicy", "A statement must have either Principal or NotPrincipal.");
  }
  if (value["NotPrincipal"] !== undefined && effect === "Allow") {
    throw new S3Error("MalformedPolicy", "Allow with NotPrincipal lets in everybody but a few; it is not allowed.");
  }
  if ((principal === undefined) === (bucket !== undefined)) {
    throw new S3Error(
      "MalformedPolicy",
      bucket === undefined ? "Principal belongs in bucket policies only." : "Missing required field Principal",
    );
  }
  return {
    effect,
    principals: principal === undefined ? undefined : readPrincipals(principal),
    notPrincipals: value["NotPrincipal"] !== undefined,
    actions: actions.list.map((action) => action.toLowerCase()),
    notActions: actions.not,
    resources: patterns,
    notResources: resources.not,
    conditions: parseConditions(value["Condition"]),
  };
}

function toResource(resource: string, bucket: string | undefined): string {
  if (bucket === undefined && /^arn:aws:iam::[\w-]*:.+$/.test(resource)) {
    return resource;
  }
  const pattern = resource === "*" ? "*" : /^arn:aws:s3::[\w-]*:(.+)$/.exec(resource)?.[1];
  const [name = ""] = (pattern ?? "").split("/", 1);
  if (pattern === undefined || (bucket !== undefined && !isLike(bucket, name))) {
    throw new S3Error("MalformedPolicy", `Policy has invalid resource ${resource}`);
  }
  return pattern;
}

const PRINCIPALS = 'use "*", {"AWS": "arn:aws:iam:::user/<name>"}, {"AWS": "<account>"} or {"CanonicalUser": "<name>"}';

function readPrincipals(value: unknown): readonly PrincipalPattern[] {
  if (value === "*") {
    return [{ kind: "everybody", name: "*" }];
  }
  if (!isRecord(value) || Object.keys(value).length === 0) {
    throw new S3Error("MalformedPolicy", `Invalid principal in policy: ${PRINCIPALS}.`);
  }
  return Object.entries(value).flatMap(([kind, names]) =>
    readTexts(names, "Principal").map((name): PrincipalPattern => {
      const found = toPrincipalPattern(kind, name);
      if (found === undefined) {
        throw new S3Error("MalformedPolicy", `Invalid principal in policy: ${name.slice(0, 200)}; ${PRINCIPALS}.`);
      }
      return found;
    }),
  );
}

function toPrincipalPattern(kind: string, name: string): PrincipalPattern | undefined {
  if (kind === "Service" && /^[a-z0-9.-]+\.amazonaws\.com$/.test(name)) {
    return { kind: "service", name };
  }
  if (kind === "CanonicalUser") {
    return { kind: "user", name };
  }
  if (kind !== "AWS") {
    return undefined;
  }
  if (name === "*") {
    return { kind: "everybody", name };
  }
  const [, account = "", rest = name] = /^arn:aws:(?:iam|sts)::([\w-]*):(.+)$/.exec(name) ?? [];
  if (rest === "root" && account !== "") {
    return { kind: "account", name: account };
  }
  if (name === rest) {
    return /^[\w-]+$/.test(name) ? { kind: "account", name } : undefined;
  }
  const user = /^(?:user|role|assumed-role)\/(?:.*\/)?([^/]+)$/.exec(rest)?.[1];
  // Twelve digits are the account of this deployment, which has no number of its own.
  return user === undefined
    ? undefined
    : { kind: "user", name: user, account: /^\d*$/.test(account) ? undefined : account };
}

/** What a policy says: an explicit Deny beats every Allow. `${aws:username}` and the like are filled in. */
export function evaluatePolicy(policy: Policy, question: AuthorizationRequest): Verdict {
  let verdict: Verdict = "none";
  for (const statement of policy) {
    if (applies(statement, question)) {
      if (statement.effect === "Deny") {
        return "deny";
      }
      verdict = "allow";
    }
  }
  return verdict;
}

/** A policy that allows nothing to whole accounts; what it denies stays. */
export function withoutAccounts(policy: Policy): Policy {
  return policy.map((statement) =>
    statement.effect === "Deny" || statement.principals === undefined
      ? statement
      : { ...statement, principals: statement.principals.filter(({ kind }) => kind !== "account") },
  );
}

/** Whether some statement could allow this action on something: what is asked before a body is read that names the resources. */
export function mightAllow(policy: Policy, action: string, caller: Caller): boolean {
  return policy.some(
    (statement) =>
      statement.effect === "Allow" && concerns(statement, caller) && matchesAction(statement, action.toLowerCase()),
  );
}

function applies(statement: Statement, question: AuthorizationRequest): boolean {
  const { resources, notResources, conditions } = statement;
  return (
    concerns(statement, question.caller) &&
    matchesAction(statement, question.action.toLowerCase()) &&
    resources.some((pattern) => matchesResource(pattern, question)) !== notResources &&
    conditions.every((condition) => holds(condition, question.context, (text) => fillVariables(text, question, false)))
  );
}

function concerns({ principals, notPrincipals }: Statement, caller: Caller): boolean {
  return principals === undefined || principals.some((pattern) => names(pattern, caller)) !== notPrincipals;
}

function names({ kind, name, account }: PrincipalPattern, caller: Caller): boolean {
  switch (kind) {
    case "everybody":
      return true;
    case "service":
      return false;
    case "account":
      return caller.user !== undefined && caller.account === name;
    case "user":
      // Without an account: one of the deployment's own, or who owns an account. Others' users may have any name.
      return (
        name === caller.user &&
        (account === undefined ? caller.account === "" || caller.account === name : account === caller.account)
      );
  }
}

function matchesAction({ actions, notActions }: Statement, action: string): boolean {
  return actions.some((pattern) => isLike(action, pattern)) !== notActions;
}

function matchesResource(pattern: string, question: AuthorizationRequest): boolean {
  const filled = fillVariables(pattern, question, true);
  return filled !== undefined && isLike(question.resource, filled);
}

/** Undefined when a variable has no value: such a pattern matches nothing. Values never act as wildcards. */
function fillVariables(text: string, { context, caller }: AuthorizationRequest, escape: boolean): string | undefined {
  if (!text.includes("${")) {
    return text;
  }
  let missing = false;
  const filled = text.replace(/\$\{([^}]+)\}/g, (_, name: string) => {
    if (name === "*" || name === "?" || name === "$") {
      return name;
    }
    const value = name === "aws:username" ? caller.user : context(name.toLowerCase())?.[0];
    if (value === undefined || (escape && /[*?/]/.test(value))) {
      missing = true;
      return "";
    }
    return value;
  });
  return missing ? undefined : filled;
}
