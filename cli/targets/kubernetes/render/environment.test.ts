import assert from "node:assert/strict";
import { test } from "node:test";

import { escapeReferences } from "./environment.ts";
import { AWKWARD_VALUES, expandReferences } from "./test/expand-references.ts";

test("a value comes out of the cluster's expansion as it went in", () => {
  const variables = { HOME: "/root", A: "a" };
  for (const [name, value] of Object.entries(AWKWARD_VALUES)) {
    assert.equal(expandReferences(escapeReferences(value), variables), value, name);
  }
});

test("without a dollar nothing changes", () => {
  assert.equal(escapeReferences("plain (text) %{x}"), "plain (text) %{x}");
});
