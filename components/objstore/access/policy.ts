import { isIP, BlockList } from "node:net";

import { S3Error } from "../errors.ts";

/** What is asked: an action on a resource under circumstances. */
export interface AccessQuestion {
  readonly action: string;
  /** `bucket` or `bucket/key`; empty for the service. */
  readonly resource: string;
  /** Condition keys in lower case. */
  readonly context: Readonly<Record<string, string | undefined>>;
  /** User name; undefined for anonymous requests. */
  readonly user: string | undefined;
}

type Condition = {
  readonly operator: string;
  readonly ifExists: boolean;
  readonly key: string;
  readonly values: readonly string[];
};

interface Statement {
  readonly effect: "Allow" | "Deny";
  readonly principals: readonly string[] | undefined;
  readonly notPrincipals: boolean;
  readonly actions: readonly string[];
  readonly notActions: boolean;
  readonly resources: readonly string[];
  readonly notResources: boolean;
  readonly conditions: readonly Condition[];
}

export type Policy = readonly Statement[];
export type Verdict = "allow" | "deny" | "none";

const OPERATORS = new Set([
  "StringEquals", "StringNotEquals", "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase", "StringLike", "StringNotLike",
  "NumericEquals", "NumericNotEquals", "NumericLessThan", "NumericLessThanEquals", "NumericGreaterThan", "NumericGreaterThanEquals",
  "DateLessThan", "DateGreaterThan", "Bool", "IpAddress", "NotIpAddress", "Null",
]); // prettier-ignore

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
  const known = [
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
  const strange = Object.keys(value).find((name) => !known.includes(name));
  if (strange !== undefined) {
    throw new S3Error("MalformedPolicy", `Unknown field ${strange}; allowed: ${known.join(", ")}`);
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
    return { list: readList(value[name] ?? value[not], name), not: value[name] === undefined };
  };
  const actions = either("Action");
  const badAction = actions.list.find((action) => action !== "*" && !/^s3:[A-Za-z*?]+$/.test(action));
  if (badAction !== undefined) {
    throw new S3Error("MalformedPolicy", `Policy has invalid action ${badAction}`);
  }
  const resources = either("Resource");
  const patterns = resources.list.map((resource) => {
    const pattern = resource === "*" ? "*" : /^arn:aws:s3:::(.+)$/.exec(resource)?.[1];
    if (pattern === undefined || (bucket !== undefined && pattern !== bucket && !pattern.startsWith(`${bucket}/`))) {
      throw new S3Error("MalformedPolicy", `Policy has invalid resource ${resource}`);
    }
    return pattern;
  });
  const principal = value["Principal"] ?? value["NotPrincipal"];
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
    actions: actions.list,
    notActions: actions.not,
    resources: patterns,
    notResources: resources.not,
    conditions: readConditions(value["Condition"]),
  };
}

function readPrincipals(value: unknown): readonly string[] {
  if (value === "*") {
    return ["*"];
  }
  if (!isRecord(value) || Object.keys(value).some((kind) => kind !== "AWS")) {
    throw new S3Error(
      "MalformedPolicy",
      'Invalid principal in policy: use "*" or {"AWS": "arn:aws:iam:::user/<name>"}.',
    );
  }
  return readList(value["AWS"], "Principal").map((name) => {
    const user = name === "*" ? "*" : /^arn:aws:iam::\d*:user\/(.+)$/.exec(name)?.[1];
    if (user === undefined) {
      throw new S3Error("MalformedPolicy", `Invalid principal in policy: ${name}; use arn:aws:iam:::user/<name>.`);
    }
    return user;
  });
}

function readConditions(value: unknown): Condition[] {
  if (value === undefined) {
    return [];
  }
  if (!isRecord(value)) {
    throw new S3Error("MalformedPolicy", "Condition must be an object.");
  }
  return Object.entries(value).flatMap(([name, keys]) => {
    const operator = name.replace(/IfExists$/, "");
    if (!OPERATORS.has(operator) || !isRecord(keys)) {
      throw new S3Error("MalformedPolicy", `Invalid Condition type : ${name}`);
    }
    return Object.entries(keys).map(([key, values]) => ({
      operator,
      ifExists: name.endsWith("IfExists"),
      key: key.toLowerCase(),
      values: readList(values, "Condition"),
    }));
  });
}

function readList(value: unknown, name: string): readonly string[] {
  const list = (Array.isArray(value) ? (value as unknown[]) : [value]).map((item) =>
    typeof item === "boolean" || typeof item === "number" ? String(item) : item,
  );
  if (list.length === 0 || !list.every((item) => typeof item === "string")) {
    throw new S3Error("MalformedPolicy", `${name} must be a text or a list of texts.`);
  }
  return list;
}

/** What a policy says: an explicit Deny beats every Allow. `${aws:username}` and the like are filled in. */
export function evaluatePolicy(policy: Policy, question: AccessQuestion): Verdict {
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

function applies(statement: Statement, question: AccessQuestion): boolean {
  const { principals, notPrincipals, actions, notActions, resources, notResources, conditions } = statement;
  if (principals !== undefined) {
    const named = principals.some((name) => name === "*" || name === question.user);
    if (named === notPrincipals) {
      return false;
    }
  }
  return (
    actions.some((pattern) => isLike(question.action.toLowerCase(), pattern.toLowerCase())) !== notActions &&
    resources.some((pattern) => matchesResource(pattern, question)) !== notResources &&
    conditions.every((condition) => holds(condition, question))
  );
}

function matchesResource(pattern: string, question: AccessQuestion): boolean {
  const filled = fillVariables(pattern, question, true);
  return filled !== undefined && isLike(question.resource, filled);
}

function holds({ operator, ifExists, key, values }: Condition, question: AccessQuestion): boolean {
  const actual = question.context[key];
  if (operator === "Null") {
    return values.includes(String(actual === undefined));
  }
  const negative = operator.includes("Not");
  if (actual === undefined) {
    return ifExists || negative;
  }
  const expected = values.flatMap((value) => fillVariables(value, question, false) ?? []);
  const some = expected.some((value) => compare(operator.replace("Not", ""), actual, value));
  return some !== negative;
}

function compare(operator: string, actual: string, expected: string): boolean {
  switch (operator) {
    case "StringEquals":
      return actual === expected;
    case "StringEqualsIgnoreCase":
    case "Bool":
      return actual.toLowerCase() === expected.toLowerCase();
    case "StringLike":
      return isLike(actual, expected);
    case "NumericEquals":
      return Number(actual) === Number(expected);
    case "NumericLessThan":
      return Number(actual) < Number(expected);
    case "NumericLessThanEquals":
      return Number(actual) <= Number(expected);
    case "NumericGreaterThan":
      return Number(actual) > Number(expected);
    case "NumericGreaterThanEquals":
      return Number(actual) >= Number(expected);
    case "DateLessThan":
      return Date.parse(actual) < Date.parse(expected);
    case "DateGreaterThan":
      return Date.parse(actual) > Date.parse(expected);
    default:
      return isInNetwork(actual, expected);
  }
}

function isInNetwork(address: string, network: string): boolean {
  const [base = "", bits] = network.split("/");
  const family = isIP(base) === 6 ? "ipv6" : "ipv4";
  if (isIP(base) === 0 || isIP(address) === 0) {
    return false;
  }
  const list = new BlockList();
  list.addSubnet(base, Number(bits ?? (family === "ipv6" ? 128 : 32)), family);
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Undefined when a variable has no value: such a pattern matches nothing. Values never act as wildcards. */
function fillVariables(text: string, { context, user }: AccessQuestion, escape: boolean): string | undefined {
  let missing = false;
  const filled = text.replace(/\$\{([^}]+)\}/g, (_, name: string) => {
    const value = name === "aws:username" ? user : context[name.toLowerCase()];
    if (value === undefined || (escape && /[*?/]/.test(value))) {
      missing = true;
      return "";
    }
    return value;
  });
  return missing ? undefined : filled;
}

/** `*` any text, `?` any character; linear in practice, never backtracks more than one star. */
export function isLike(text: string, pattern: string): boolean {
  let at = 0;
  let wild = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    const expected = pattern[wild];
    if (expected === "*") {
      star = wild;
      resume = at;
      wild += 1;
    } else if (expected === "?" || (expected !== undefined && expected === text[at])) {
      at += 1;
      wild += 1;
    } else if (star >= 0) {
      wild = star + 1;
      resume += 1;
      at = resume;
    } else {
      return false;
    }
  }
  while (pattern[wild] === "*") {
    wild += 1;
  }
  return wild === pattern.length;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
