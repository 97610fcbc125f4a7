import assert from "node:assert/strict";
import { test } from "node:test";

import type { Bucket } from "../store/rows.ts";
import { ALL_USERS, toCannedAcl } from "./acl.ts";
import { isAllowed } from "./evaluate.ts";
import { type Policy, parsePolicy } from "./policy.ts";
import type { Principal } from "./principal.ts";
import { isPublicPolicy } from "./public-policy.ts";

const OUTCOMES = ["absent", "none", "allow", "deny"] as const;
type Outcome = (typeof OUTCOMES)[number];

const statement = (outcome: Outcome, more: object = {}) => ({
  Effect: outcome === "deny" ? "Deny" : "Allow",
  Action: outcome === "none" ? "s3:GetBucketLocation" : "s3:GetObject",
  Resource: "arn:aws:s3:::b/*",
  ...more,
});
const toText = (statements: readonly object[]) => JSON.stringify({ Version: "2012-10-17", Statement: statements });
const policyOf = (outcome: Outcome): Policy => parsePolicy(toText([statement(outcome)]));

function toBucket(outcome: Outcome, account: string, more: Partial<Bucket> = {}): Bucket {
  const policy =
    outcome === "absent" ? null : toText([statement(outcome, { Principal: { AWS: "arn:aws:iam:::user/u" } })]);
  return {
    id: 1,
    name: "b",
    owner: account || "root",
    account,
    policy,
    access_block: null,
    ownership: "ObjectWriter",
    ...more,
  } as Bucket;
}

/** The flow chart of "Policy evaluation logic" in the IAM user guide, for one account and across two. */
function expect(row: {
  identity: Outcome;
  boundary: Outcome;
  limit: Outcome;
  bucket: Outcome;
  acl: boolean;
  same: boolean;
}): boolean {
  const { identity, boundary, limit, bucket, acl, same } = row;
  if ([identity, boundary, limit, bucket].includes("deny")) {
    return false;
  }
  if (limit === "none") {
    return false;
  }
  const resource = bucket === "allow" || acl;
  const own = identity === "allow" && (boundary === "absent" || boundary === "allow");
  return same ? resource || own : resource && own;
}

test("identity, boundary, key, bucket policy, list and account decide together as AWS documents", () => {
  let rows = 0;
  for (const identity of OUTCOMES) {
    for (const boundary of OUTCOMES) {
      for (const limit of OUTCOMES) {
        for (const bucket of OUTCOMES) {
          for (const acl of [false, true]) {
            for (const same of [true, false]) {
              const principal: Principal = {
                kind: "user",
                name: "u",
                account: "",
                ownsAccount: false,
                identity: identity === "absent" ? [] : policyOf(identity),
                ...(boundary !== "absent" && { boundary: policyOf(boundary) }),
                limits: limit === "absent" ? [] : [policyOf(limit)],
                claims: {},
              };
              const found = isAllowed(principal, toBucket(bucket, same ? "" : "other"), {
                action: "s3:GetObject",
                resource: "b/k",
                context: () => undefined,
                acl: toCannedAcl(acl ? "public-read" : "private", "other", "other"),
              });
              const row = { identity, boundary, limit, bucket, acl, same };
              assert.equal(found, expect(row), JSON.stringify(row));
              rows += 1;
            }
          }
        }
      }
    }
  }
  assert.equal(rows, 4 ** 4 * 4);
});

test("who owns an account needs no policy within it, and one of the resource's outside", () => {
  const owner: Principal = {
    kind: "user",
    name: "a",
    account: "a",
    ownsAccount: true,
    identity: [],
    limits: [],
    claims: {},
  };
  const question = { action: "s3:GetObject", resource: "b/k", context: () => undefined };
  assert.equal(isAllowed(owner, toBucket("absent", "a"), question), true);
  assert.equal(isAllowed(owner, toBucket("absent", "b"), question), false);
  assert.equal(isAllowed(owner, toBucket("absent", ""), question), false);
  const open = toBucket("absent", "b", { policy: toText([statement("allow", { Principal: { AWS: "a" } })]) });
  assert.equal(isAllowed(owner, open, question), true);
  // An object that another account put into one's bucket is that account's.
  assert.equal(isAllowed(owner, toBucket("absent", "a"), { ...question, objectAccount: "b" }), false);
});

test("lists: groups, ids, and public grants that a bucket ignores", () => {
  const question = { action: "s3:GetObject", resource: "b/k", context: () => undefined };
  const acl = toCannedAcl("public-read", "o", "o");
  const anonymous: Principal = { kind: "anonymous" };
  assert.equal(isAllowed(anonymous, toBucket("absent", ""), { ...question, acl }), true);
  const block = { access_block: JSON.stringify({ IgnorePublicAcls: true }) };
  assert.equal(isAllowed(anonymous, toBucket("absent", "", block), { ...question, acl }), false);
  assert.equal(isAllowed(anonymous, toBucket("absent", ""), { ...question, action: "s3:PutObject", acl }), false);
  assert.ok(acl?.grants.some(({ grantee }) => grantee.type === "Group" && grantee.uri === ALL_USERS));
});

test("conditions: every documented kind decides, and what is not known is refused", () => {
  const values: Readonly<Record<string, readonly string[]>> = {
    "s3:existingobjecttag/class": ["secret"],
    "aws:sourceip": ["10.1.2.3"],
    "s3:max-keys": ["10"],
    "aws:currenttime": ["2030-06-01T00:00:00Z"],
    "aws:securetransport": ["false"],
    "s3:requestobjecttagkeys": ["a", "b"],
    "aws:principalarn": ["arn:aws:iam::12:user/eric"],
  };
  const decides = (condition: object) => {
    const policy = parsePolicy(
      JSON.stringify({ Statement: [{ Effect: "Allow", Action: "s3:GetObject", Resource: "*", Condition: condition }] }),
    );
    const principal: Principal = {
      kind: "user",
      name: "u",
      account: "",
      ownsAccount: false,
      identity: policy,
      limits: [],
      claims: {},
    };
    return isAllowed(principal, undefined, { action: "s3:GetObject", resource: "b/k", context: (key) => values[key] });
  };
  const rows: readonly (readonly [condition: object, holds: boolean])[] = [
    [{ StringEquals: { "s3:ExistingObjectTag/class": "secret" } }, true],
    [{ StringNotEquals: { "s3:ExistingObjectTag/class": "secret" } }, false],
    [{ StringEquals: { "s3:ExistingObjectTag/other": "x" } }, false],
    [{ StringNotEquals: { "s3:ExistingObjectTag/other": "x" } }, true],
    [{ StringEqualsIfExists: { "s3:ExistingObjectTag/other": "x" } }, true],
    [{ StringEqualsIgnoreCase: { "s3:ExistingObjectTag/class": "SECRET" } }, true],
    [{ StringLike: { "s3:ExistingObjectTag/class": "se*" } }, true],
    [{ StringNotLike: { "s3:ExistingObjectTag/class": "se*" } }, false],
    [{ IpAddress: { "aws:SourceIp": "10.0.0.0/8" } }, true],
    [{ NotIpAddress: { "aws:SourceIp": ["10.0.0.0/8", "::1"] } }, false],
    [{ NumericLessThanEquals: { "s3:max-keys": 10 } }, true],
    [{ NumericGreaterThan: { "s3:max-keys": 10 } }, false],
    [{ NumericNotEquals: { "s3:max-keys": 11 } }, true],
    [{ DateGreaterThan: { "aws:CurrentTime": "2030-01-01T00:00:00Z" } }, true],
    [{ DateLessThanEquals: { "aws:CurrentTime": "2030-01-01T00:00:00Z" } }, false],
    [{ DateEquals: { "aws:CurrentTime": "1906502400" } }, true],
    [{ Bool: { "aws:SecureTransport": "false" } }, true],
    [{ Null: { "s3:prefix": true } }, true],
    [{ Null: { "s3:max-keys": true } }, false],
    [{ "ForAllValues:StringEquals": { "s3:RequestObjectTagKeys": ["a", "b", "c"] } }, true],
    [{ "ForAllValues:StringEquals": { "s3:RequestObjectTagKeys": ["a"] } }, false],
    [{ "ForAnyValue:StringEquals": { "s3:RequestObjectTagKeys": ["b", "z"] } }, true],
    [{ "ForAnyValue:StringEquals": { "s3:prefix": ["b"] } }, false],
    [{ "ForAllValues:StringEquals": { "s3:prefix": ["b"] } }, true],
    [{ ArnLike: { "aws:PrincipalArn": "arn:aws:iam::*:user/*" } }, true],
    [{ ArnNotEquals: { "aws:PrincipalArn": "arn:aws:iam::13:user/eric" } }, true],
  ];
  for (const [condition, holds] of rows) {
    assert.equal(decides(condition), holds, JSON.stringify(condition));
  }
  const refused: readonly object[] = [
    { Condition: { StringEquals: { "s3:MadeUp": "x" } } },
    { Condition: { StringEquals: { "s3:ExistingObjectTag/": "x" } } },
    { Condition: { StringSimilar: { "s3:prefix": "x" } } },
    { Condition: { "ForSome:StringEquals": { "s3:prefix": "x" } } },
    { Condition: { NumericEquals: { "s3:max-keys": "many" } } },
    { Condition: { IpAddress: { "aws:SourceIp": "10.0.0.0/99" } } },
    { Condition: { Bool: { "aws:SecureTransport": "perhaps" } } },
    { Action: "s3:MakeCoffee" },
    { Effect: "Allow", NotPrincipal: { AWS: "arn:aws:iam:::user/u" } },
    { Action: "s3:Gett*" },
    { Sidd: "x" },
  ];
  for (const more of refused) {
    const text = JSON.stringify({ Statement: [{ Effect: "Deny", Action: "s3:*", Resource: "*", ...more }] });
    assert.throws(() => parsePolicy(text), { code: "MalformedPolicy" }, text);
  }
});

test("a policy is public unless principals or where requests come from are fixed", () => {
  const isPublic = (more: object) => isPublicPolicy(parsePolicy(toText([statement("allow", more)]), "b"));
  const everybody = { Principal: "*" };
  assert.equal(isPublic({ Principal: { AWS: "arn:aws:iam:::user/u" } }), false);
  for (const more of [
    everybody,
    { Principal: { AWS: ["arn:aws:iam:::user/u", "*"] } },
    { ...everybody, Condition: { StringLike: { "aws:Referer": "*" } } },
    { ...everybody, Condition: { StringLike: { "aws:UserId": "*" } } },
    { ...everybody, Condition: { Bool: { "aws:SecureTransport": "true" } } },
    { ...everybody, Condition: { IpAddress: { "aws:SourceIp": ["10.0.0.0/8", "0.0.0.0/0"] } } },
    { ...everybody, Condition: { NotIpAddress: { "aws:SourceIp": "10.0.0.0/8" } } },
    { ...everybody, Condition: { StringEqualsIfExists: { "aws:SourceVpc": "v" } } },
    { ...everybody, Condition: { "ForAllValues:StringEquals": { "aws:SourceVpc": "v" } } },
  ]) {
    assert.equal(isPublic(more), true, JSON.stringify(more));
  }
  for (const more of [
    { ...everybody, Condition: { IpAddress: { "aws:SourceIp": "10.0.0.0/8" } } },
    { ...everybody, Condition: { StringEquals: { "aws:SourceVpc": "v" } } },
  ]) {
    assert.equal(isPublic(more), false, JSON.stringify(more));
  }
});
