import assert from "node:assert/strict";
import { after, test } from "node:test";

import { OgcError } from "../errors.ts";
import { ECHO_TOOL } from "../test/packages.ts";
import { openPackageReader } from "./package-reader.ts";

const reader = openPackageReader();
after(() => reader.close());

const check = (owner: string) => reader.read("check", owner, { text: ECHO_TOOL, workflow: undefined, advice: false });

test("a user has a bounded number of packages that wait, which is nobody else's", async () => {
  const ofEve = Array.from({ length: 30 }, () => check("eve").then(() => 200, statusOf));
  assert.deepEqual((await check("bob")).workflows, ["say"]);
  const statuses = await Promise.all(ofEve);
  assert.equal(statuses.filter((status) => status === 200).length, 21);
  assert.equal(statuses.filter((status) => status === 429).length, 9);
  assert.deepEqual((await check("eve")).workflows, ["say"]);
});

const statusOf = (error: unknown): number => (error instanceof OgcError ? error.status : 0);
