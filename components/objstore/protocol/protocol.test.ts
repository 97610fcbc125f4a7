import assert from "node:assert/strict";
import { test } from "node:test";

import { isLike } from "../access/like.ts";
import { evaluatePolicy, parsePolicy } from "../access/policy.ts";
import { S3Error } from "../errors.ts";
import { afterPrefix, compareKeys } from "../store/key-order.ts";
import { isBucketName, parseAddress } from "./address.ts";
import { parseRange } from "./range.ts";
import { childrenOf, escapeXml, parseLargeXml, parseXml, renderXml, textOf } from "./xml.ts";

const hasCode = (code: string) => (error: unknown) => error instanceof S3Error && error.code === code;

test("XML: references are resolved once, document types and bad documents are refused", () => {
  const part = parseXml("<A xmlns='x'><ETag>&#34;a&amp;#34;&#x22;</ETag></A>", "A");
  assert.equal(textOf(part, "ETag"), '"a&#34;"');
  assert.equal(childrenOf(parseXml("<A><B>1</B><B>2</B></A>", "A"), "B").length, 2);
  for (const text of ['<!DOCTYPE a [<!ENTITY b "c">]><A>&b;</A>', "<A><B></A>", "", "<B/>", "x"]) {
    assert.throws(() => parseXml(text, "A"), hasCode("MalformedXML"), text);
  }
  assert.equal(escapeXml("a\u0001<&>"), "a&#x1;&lt;&amp;&gt;");
});

test("XML: what is not well formed is refused, references to control characters are keys", async () => {
  for (const text of [
    "<A>&foo;</A>",
    '<A b="1" b="2"/>',
    "<A><B></A></B>",
    "<A/><A/>",
    "<A>&</A>",
    '<A b="<"/>',
    "<p:A/>",
  ]) {
    assert.throws(() => parseXml(text, "A"), hasCode("MalformedXML"), text);
    await assert.rejects(parseLargeXml(text, "A"), hasCode("MalformedXML"), text);
  }
  assert.equal(textOf(parseXml("<A><Key> &#x1;&#13; </Key></A>", "A"), "Key"), " \u0001\r ");
  assert.equal(textOf(parseXml("<A><Key>c\u0001\ufffez</Key></A>", "A"), "Key"), "c\u0001\ufffez");
});

test("XML: answers have the namespace of S3, errors have none", () => {
  assert.match(renderXml("Answer", { A: 1 }), /<Answer xmlns="http:[^"]+"><A>1<\/A><\/Answer>$/);
  assert.match(renderXml("Error", { Code: "X" }, null), /\n<Error><Code>X<\/Code><\/Error>$/);
});

test("addresses: path style, virtual-host style, opaque keys, broken escapes", () => {
  const at = (target: string, host = "objstore.x") => parseAddress(target, host, "objstore.x");
  assert.deepEqual([at("/b/../k").bucket, at("/b/../k").key], ["b", "../k"]);
  assert.deepEqual([at("/b//k?x=1+2").key, at("/b//k?x=1+2").query], ["/k", [["x", "1 2"]]]);
  assert.deepEqual(
    [at("/k/l", "my.bucket.objstore.x:80").bucket, at("/k/l", "my.bucket.objstore.x:80").key],
    ["my.bucket", "k/l"],
  );
  assert.equal(at("/").bucket, undefined);
  assert.equal(at("/b/").key, undefined);
  assert.throws(() => at("/b/%ff"), hasCode("InvalidURI"));
  assert.throws(() => at(`/b/${"ä".repeat(513)}`), hasCode("KeyTooLongError"));
  assert.deepEqual(["abc", "a.b-c", "ab", "A-b", "1.2.3.4", "a..b", "-ab", "a".repeat(64)].map(isBucketName), [
    true,
    true,
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test("ranges", () => {
  assert.deepEqual(parseRange("bytes=0-0", 10), { start: 0, end: 0 });
  assert.deepEqual(parseRange("bytes=5-99", 10), { start: 5, end: 9 });
  assert.deepEqual(parseRange("bytes=-99", 10), { start: 0, end: 9 });
  assert.equal(parseRange("bytes=5-1", 10), undefined);
  assert.equal(parseRange("lines=1-2", 10), undefined);
  assert.throws(() => parseRange("bytes=10-", 10), hasCode("InvalidRange"));
});

test("keys are ordered by their UTF-8 bytes", () => {
  assert.equal(afterPrefix("a/"), "a0");
  assert.equal(afterPrefix("\u{10ffff}"), undefined);
  assert.equal(afterPrefix("a\ud7ff"), "a\ue000");
  assert.ok(compareKeys("\uffff", "\u{1f6f0}") < 0);
});

test("policies: Deny wins, variables never act as wildcards, the unknown is refused", () => {
  const policy = parsePolicy(
    JSON.stringify({
      Version: "2012-10-17",
      Statement: [
        { Effect: "Allow", Action: "s3:*", Resource: "arn:aws:s3:::ws-${jwt:preferred_username}/*" },
        { Effect: "Deny", Action: "s3:Delete*", Resource: "*" },
        {
          Effect: "Allow",
          Action: "s3:ListBucket",
          Resource: "*",
          Condition: { StringLike: { "s3:prefix": ["home/*"] }, IpAddress: { "aws:SourceIp": "10.0.0.0/8" } },
        },
      ],
    }),
  );
  const send = (action: string, resource: string, context: Record<string, string> = {}) =>
    evaluatePolicy(policy, {
      action,
      resource,
      context: (key) => {
        const value = { "jwt:preferred_username": "eric", ...context }[key];
        return value === undefined ? undefined : [value];
      },
      caller: { user: "eric", account: "" },
    });
  assert.equal(send("s3:GetObject", "ws-eric/a/b"), "allow");
  assert.equal(send("s3:DeleteObject", "ws-eric/a/b"), "deny");
  assert.equal(send("s3:GetObject", "ws-bob/a"), "none");
  assert.equal(send("s3:GetObject", "ws-bob/a", { "jwt:preferred_username": "*" }), "none");
  assert.equal(send("s3:ListBucket", "x", { "s3:prefix": "home/a", "aws:sourceip": "10.1.2.3" }), "allow");
  assert.equal(send("s3:ListBucket", "x", { "s3:prefix": "home/a", "aws:sourceip": "11.1.2.3" }), "none");
  for (const bad of [
    "x",
    "{}",
    '{"Statement":{"Effect":"Allow","Action":"s3:x","Resource":"arn:aws:s3:::b","Condition":{"Sometimes":{}}}}',
    '{"Statement":[{"Effect":"Allow","Action":"ec2:Run","Resource":"*"}]}',
  ]) {
    assert.throws(() => parsePolicy(bad), hasCode("MalformedPolicy"), bad);
  }
  assert.ok(isLike("a".repeat(5000), `${"*a".repeat(20)}*`));
});
