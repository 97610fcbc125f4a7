import type { Condition } from "./conditions.ts";
import type { Policy, Statement } from "./policy.ts";

/**
 * Whether a bucket policy lets in people nobody chose, by the meaning of "public" that Amazon S3 documents: an Allow is not public
 * only where it names its principals, or where a condition fixes where or whom the request comes from.
 */
export function isPublicPolicy(policy: Policy): boolean {
  return policy.some((statement) => statement.effect === "Allow" && !isFixed(statement));
}

function isFixed({ principals = [], notPrincipals, conditions }: Statement): boolean {
  // Everybody but somebody is everybody.
  const named = !notPrincipals && principals.every(({ kind }) => kind !== "everybody");
  return named || conditions.some(narrows);
}

/** Keys whose fixed values say from where or from whom a request comes. */
const FIXING = new Set([
  "aws:principalaccount",
  "aws:principalarn",
  "aws:principalorgid",
  "aws:principalorgpaths",
  "aws:sourceaccount",
  "aws:sourcearn",
  "aws:sourceip",
  "aws:sourceowner",
  "aws:sourcevpc",
  "aws:sourcevpce",
  "aws:userid",
  "aws:username",
  "s3:dataaccesspointaccount",
  "s3:dataaccesspointarn",
]);

function narrows({ comparison, negated, ifExists, set, key, values }: Condition): boolean {
  if (negated || ifExists || set === "all" || !(FIXING.has(key) || key.startsWith("jwt:"))) {
    return false;
  }
  switch (comparison) {
    case "StringEquals":
    case "StringEqualsIgnoreCase":
      return true;
    case "StringLike":
    case "ArnEquals":
    case "ArnLike":
      return values.every((value) => !isWild(value));
    case "IpAddress":
      return values.every((value) => !isWide(value));
    default:
      return false;
  }
}

function isWild(value: string): boolean {
  // An ARN that fixes the account is of that account, whatever follows.
  const [, , , , account = ""] = value.split(":");
  return value.startsWith("arn:") ? account === "" || /[*?$]/.test(account) : /[*?$]/.test(value);
}

/** Broader than /8 of IPv4 or /32 of IPv6 is as good as everywhere. */
function isWide(value: string): boolean {
  const [base = "", bits] = value.split("/");
  return bits !== undefined && Number(bits) < (base.includes(":") ? 32 : 8);
}
