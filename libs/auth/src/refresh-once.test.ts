import assert from "node:assert/strict";
import { test } from "node:test";

import { createRefreshOnce } from "./refresh-once.ts";

/** A token that nobody signed. */
const token = (claims: { readonly jti: number; readonly exp?: number }) => ({
  accessToken: `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`,
});

test("the same token is refreshed once for all who bring it within half a minute", async () => {
  let now = 0;
  let response = 0;
  const refresh = createRefreshOnce<{ readonly accessToken: string }>(() => now);
  const send = () => Promise.resolve(token({ jti: ++response }));
  const bring = (old: string) => refresh(old, send);
  assert.deepEqual(await Promise.all([bring("old"), bring("old")]), [token({ jti: 1 }), token({ jti: 1 })]);
  assert.deepEqual(await bring("other"), token({ jti: 2 }));
  now = 29_999;
  assert.deepEqual(await bring("old"), token({ jti: 1 }));
  now = 30_001;
  assert.deepEqual(await bring("old"), token({ jti: 3 }));
});

test("an access token that ended meanwhile is given to nobody; the login is renewed again, once", async () => {
  let now = 0;
  let response = 0;
  const refresh = createRefreshOnce<{ readonly accessToken: string }>(() => now);
  const send = () => Promise.resolve(token({ jti: ++response, exp: now / 1000 + 12 }));
  assert.deepEqual(await refresh("old", send), token({ jti: 1, exp: 12 }));
  now = 11_000;
  assert.deepEqual(await refresh("old", send), token({ jti: 1, exp: 12 }));
  now = 13_000;
  const second = token({ jti: 2, exp: 25 });
  assert.deepEqual(await Promise.all([refresh("old", send), refresh("old", send)]), [second, second]);
});

test("a failure to ask is no answer: the next one asks again", async () => {
  const refresh = createRefreshOnce<{ readonly accessToken: string }>();
  await assert.rejects(
    refresh("old", () => Promise.reject(new Error("away"))),
    /away/,
  );
  assert.deepEqual(await refresh("old", () => Promise.resolve(token({ jti: 1 }))), token({ jti: 1 }));
});
