import assert from "node:assert/strict";
import { test } from "node:test";

import type { ServerRow } from "../store/servers.ts";
import { pathOn, readNext, withNext } from "./user-redirect.ts";

const server = { user_name: "eric", name: "lab", definition: { default_url: "/lab" } } as unknown as ServerRow;

test("a path leads below its server, and what leads elsewhere to the server's first page", () => {
  for (const [next, path] of [
    [
      "git-pull?repo=https%3A%2F%2Fexample.org%2Fa&urlpath=lab",
      "/user/eric/lab/git-pull?repo=https%3A%2F%2Fexample.org%2Fa&urlpath=lab",
    ],
    ["/tree/a%20b#c", "/user/eric/lab/tree/a%20b#c"],
    ["", "/user/eric/lab/lab"],
    ["../../bob/lab/tree", "/user/eric/lab/lab"],
    ["//example.org/x", "/user/eric/lab//example.org/x"],
    ["..\\..\\..\\hub", "/user/eric/lab/lab"],
    ["https://example.org/", "/user/eric/lab/https://example.org/"],
  ] as const) {
    assert.equal(pathOn(server, next), path, next);
  }
});

test("a path survives the pages on the way", () => {
  const next = "git-pull?repo=a&urlpath=lab/tree/b";
  const address = new URL(withNext("/hub/spawn", next), "http://hub");
  assert.equal(readNext(Object.fromEntries(address.searchParams)), next);
  assert.equal(withNext("/hub/spawn", ""), "/hub/spawn");
  for (const other of [undefined, null, {}, { next: ["a"] }, { next: "a".repeat(4001) }]) {
    assert.equal(readNext(other), "");
  }
});
