import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createUriIndex } from "./match-uri.ts";

const find = (patterns: readonly string[], path: string) =>
  createUriIndex(patterns.map((pattern) => [pattern, pattern])).find(path);

describe("path patterns of protected resources", () => {
  test("/eric/* matches everything below, and /eric itself", () => {
    for (const path of ["/eric", "/eric/", "/eric/a", "/eric/a/b/c.txt"]) {
      assert.deepEqual(find(["/eric/*"], path), ["/eric/*"], path);
    }
    for (const path of ["/", "/erica", "/ericx/a", "/Eric/a", "/a/eric/b"]) {
      assert.deepEqual(find(["/eric/*"], path), [], path);
    }
  });

  test("/* matches every path", () => {
    for (const path of ["/", "/a", "/a/b/"]) {
      assert.deepEqual(find(["/*"], path), ["/*"], path);
    }
  });

  test("the most specific pattern wins, in any order of declaration", () => {
    const patterns = ["/*", "/w/*", "/w/{id}", "/w/ws-eric/*", "/w/ws-eric", "/w/{id}/open", "/docs/*.json"];
    for (const order of [patterns, patterns.toReversed()]) {
      assert.deepEqual(find(order, "/x"), ["/*"]);
      assert.deepEqual(find(order, "/w"), ["/w/*"]);
      assert.deepEqual(find(order, "/w/ws-bob"), ["/w/{id}"]);
      assert.deepEqual(find(order, "/w/ws-bob/open"), ["/w/{id}/open"]);
      assert.deepEqual(find(order, "/w/ws-bob/other"), ["/w/*"]);
      assert.deepEqual(find(order, "/w/ws-eric"), ["/w/ws-eric"]);
      assert.deepEqual(find(order, "/w/ws-eric/a"), ["/w/ws-eric/*"]);
      assert.deepEqual(find(order, "/docs/a/openapi.json"), ["/docs/*.json"]);
      assert.deepEqual(find(order, "/docs/.json"), ["/*"]);
    }
  });

  test("a text before the last asterisk is a prefix", () => {
    assert.deepEqual(find(["/a/b*", "/a/bc*", "/*"], "/a/bcd/e"), ["/a/bc*"]);
    assert.deepEqual(find(["/a/b*", "/*"], "/a/b"), ["/a/b*"]);
    assert.deepEqual(find(["/a/b*", "/*"], "/a/c"), ["/*"]);
    assert.deepEqual(find(["*.json"], "/a/b.json"), ["*.json"]);
  });

  test("owners of the same pattern are all found, each once", () => {
    const index = createUriIndex([
      ["/*", "admin"],
      ["/*", "default"],
      ["*", "admin"],
    ]);
    assert.deepEqual(index.find("/a"), ["admin", "default"]);
  });

  test("a literal asterisk or brace inside a segment is only itself", () => {
    assert.deepEqual(find(["/a*/b"], "/ax/b"), []);
    assert.deepEqual(find(["/a*/b"], "/a*/b"), ["/a*/b"]);
    assert.deepEqual(find(["/{id}x"], "/1x"), []);
  });
});
