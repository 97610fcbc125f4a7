import assert from "node:assert/strict";
import { test } from "node:test";

import Format from "typebox/format";

import { isIri, isIriReference } from "./formats.ts";

const HOSTS = [
  "eodata",
  "my-bucket-2024",
  "a.b.c",
  "stac-extensions.github.io",
  "xn--a",
  "xn--mnchen-3ya.de",
  "a.xn--",
  "127.0.0.1",
  "1.2.3.999",
  "a.1",
  "a.0x7f",
  "0x7f",
  "-a",
  "a-",
  "a..b",
  "a.",
  ".a",
  "a--b",
  "A.B",
  "münchen.de",
  "a_b",
  "[::1]",
  "[::",
  "a:80",
  "a:99999",
  "u@a",
  "a b",
  "",
  "%41",
  "a%",
  `${"a".repeat(64)}.org`,
];
const SCHEMES = ["s3://", "http://", "https://", "https:/", "https:", "//", "S3://", "ftp://", "s3:///", "httpx//", ""];
const PATHS = [
  "",
  "/",
  "/a/b.tif",
  "/a%20b",
  "/a%2",
  "/a b",
  "/a\\b",
  "/../..",
  "//",
  "/~user/@v:1,2=3+4",
  "/ü",
  "?q=1",
  "/a?q#f",
  "/\n",
  "/<a>",
  "/{a}",
];

test("what needs no parser is judged as the parser would", () => {
  for (const scheme of SCHEMES) {
    for (const host of HOSTS) {
      for (const path of PATHS) {
        const text = `${scheme}${host}${path}`;
        assert.equal(isIri(text), Format.IsIri(text), text);
        assert.equal(isIriReference(text), Format.IsIriReference(text), text);
      }
    }
  }
});
