import assert from "node:assert/strict";
import { test } from "node:test";

import { findConfusion } from "./user-names.ts";

test("names of one script pass, whichever it is", () => {
  for (const name of ["eric", "jörg", "eric-2", "иван.петров", "γιώργος", "王小明", "علي", "a_b@c.example"]) {
    assert.equal(findConfusion(name), undefined, name);
  }
});

test("names that look like another one are found", () => {
  for (const name of ["аdmin", "еrіс", "ерос", "ｅric", "ad\u200bmin", "admin\u202e", "ﬁona", "αdmin", "ѕсоре"]) {
    assert.notEqual(findConfusion(name), undefined, name);
  }
});
