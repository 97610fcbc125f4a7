import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { ENDPOINTS } from "../oauth/endpoints.ts";
import { type Fixture, startFixture } from "./fixture.ts";

/** Walks the gatekeeper's own addresses and those of a service with every kind of caller, and compares with the table that people read. */
const TABLE = join(import.meta.dirname, "../../../docs/reference/identity-rights.md");
const CALLERS = ["nobody", "wrong", "bob", "eric"] as const;

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
});
after(() => fixture.close());

const rows = [
  ...readFileSync(TABLE, "utf8").matchAll(/^\| `(\/[^`]+)`[^|]*\| (\d+) +\| (\d+) +\| (\d+) +\| (\d+) +\|$/gm),
].map(([, path = "", ...statuses]) => ({ path, statuses: statuses.map(Number) }));

test("every own address is in the table", () => {
  const own = rows.map(({ path }) => path).filter((path) => path.startsWith("/oauth/"));
  assert.deepEqual(own.toSorted(), Object.keys(ENDPOINTS).toSorted());
});

for (const { path, statuses } of rows) {
  test(`${path} answers each caller as the table says`, async () => {
    const found: number[] = [];
    for (const caller of CALLERS) {
      const headers =
        caller === "nobody"
          ? {}
          : caller === "wrong"
            ? { authorization: "Bearer a.b.c" }
            : await fixture.bearer(caller === "bob" ? { sub: "id-of-bob", preferred_username: "bob" } : {});
      const isPost = ENDPOINTS[path]?.methods.includes("GET") === false;
      found.push(
        (
          await fixture.send({
            path,
            headers: { ...headers, ...(isPost && { "content-type": "application/x-www-form-urlencoded" }) },
            ...(isPost && { method: "POST", body: "" }),
          })
        ).status,
      );
    }
    assert.deepEqual(found, statuses);
  });
}
