import assert from "node:assert/strict";
import { test } from "node:test";

import { toWorkspaceName, workspaceNamePattern } from "./names.ts";

test("a preferred name becomes a slug after the prefix", () => {
  const expected: Readonly<Record<string, string>> = {
    eric: "ws-eric",
    "-as-df^&*-": "ws-as-df",
    "Éric Müller": "ws-eric-muller",
    "../../etc/passwd": "ws-etc-passwd",
    "a//b": "ws-a-b",
    北京: "ws-bei-jing",
    admin: "ws-admin",
    __proto__: "ws-proto",
    ["x".repeat(200)]: `ws-${"x".repeat(32)}`,
    [`${"x".repeat(31)}-y`]: `ws-${"x".repeat(31)}`,
    "line\nbreak\u0000": "ws-line-break",
  };
  for (const [preferred, name] of Object.entries(expected)) {
    assert.equal(toWorkspaceName("ws", preferred), name);
  }
});

test("what leaves nothing gets a random name, another each time", () => {
  for (const empty of ["", "   ", "^&*", "---"]) {
    const name = toWorkspaceName("ws", empty);
    assert.match(name, /^ws-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    assert.notEqual(name, toWorkspaceName("ws", empty));
  }
});

test("every name fits the pattern of paths", () => {
  const pattern = new RegExp(workspaceNamePattern("ws"));
  for (const preferred of ["eric", "x".repeat(300), "", "🛰️", "a.b_c", "Ωmega"]) {
    assert.match(toWorkspaceName("ws", preferred), pattern);
  }
  for (const wrong of ["eric", "ws-", "ws-../x", "ws-A", "other-eric", "ws--x"]) {
    assert.doesNotMatch(wrong, pattern);
  }
});
