import assert from "node:assert/strict";
import { test } from "node:test";

import { createLogger } from "./log.ts";
import { maskCredentials, maskCredentialsIn, restoreCredentials } from "./mask-credentials.ts";
import { Problem } from "./problem.ts";

test("masks the login of every address in a text, and nothing else", () => {
  for (const [text, masked] of [
    ["https://eric:s3cret@data.example/x?y=a@b", "https://***@data.example/x?y=a@b"],
    ["get ftp://eric@data.example failed", "get ftp://***@data.example failed"],
    ["https://eric:p@ss@word@data.example", "https://***@data.example"],
    ["S3://KEY:SECRET@bucket and http://u:p@h:80/", "S3://***@bucket and http://***@h:80/"],
    ["write to eric@example.org", "write to eric@example.org"],
    ["https://data.example/@eric/a:b@c", "https://data.example/@eric/a:b@c"],
    ['{"url":"https://u:p@h/"}', '{"url":"https://***@h/"}'],
  ] as const) {
    assert.equal(maskCredentials(text), masked);
  }
  assert.deepEqual(maskCredentialsIn({ a: ["https://u:p@h/"], b: { c: 1, d: null } }), {
    a: ["https://***@h/"],
    b: { c: 1, d: null },
  });
});

test("a log line and a problem never have a login in an address", () => {
  const lines: string[] = [];
  const logger = createLogger("test", "info", { write: (line) => lines.push(line) });
  const error = new Error("https://eric:s3cret@data.example does not answer");
  logger.warn({ err: error, url: "https://eric:s3cret@data.example/" }, "https://eric:s3cret@data.example failed");
  assert.doesNotMatch(lines.join(""), /s3cret/);
  assert.match(lines.join(""), /https:\/\/\*\*\*@data\.example failed/);
  assert.doesNotMatch(
    JSON.stringify(new Problem(422, error.message, { extensions: { url: error.message } }).body),
    /s3cret/,
  );
});

test("what comes back masked gets its login again for the same host alone", () => {
  const kept = { url: "https://u:p@h/a", more: ["x"] };
  assert.deepEqual(restoreCredentials({ url: "https://***@h/b", more: ["y"] }, kept), {
    url: "https://u:p@h/b",
    more: ["y"],
  });
  assert.deepEqual(restoreCredentials({ url: "https://***@evil/b" }, kept), { url: "https://***@evil/b" });
  assert.deepEqual(restoreCredentials({ url: "https://x:y@h/b" }, kept), { url: "https://x:y@h/b" });
});

test("hostile texts take no time", () => {
  for (const text of [
    "a://".repeat(50_000),
    `x://${"a:".repeat(100_000)}`,
    "@".repeat(100_000),
    "://@".repeat(50_000),
  ]) {
    maskCredentials(text);
  }
});
