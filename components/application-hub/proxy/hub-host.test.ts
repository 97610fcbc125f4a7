import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";

import { readAddressToken } from "./hub-host.ts";

const read = (path: string, headers: object = {}) => readAddressToken({ headers } as unknown as IncomingMessage, path);

test("a token in an address is read, and goes no further", () => {
  assert.deepEqual(read("/user/eric/api?token=T"), { token: "T", path: "/user/eric/api" });
  assert.deepEqual(read("/user/eric/api?a=%20&token=T&b"), { token: "T", path: "/user/eric/api?a=%20&b" });
  assert.deepEqual(read("/user/eric/api?token=T&token=U"), { token: "T", path: "/user/eric/api" });
  for (const path of ["/user/eric/api", "/user/eric/api?", "/user/eric/api?a=token=T", "/user/token=T"]) {
    assert.equal(read(path), undefined, path);
  }
});

test("browsers do not get in by a link", () => {
  for (const headers of [{ cookie: "a=b" }, { "sec-fetch-mode": "navigate" }]) {
    assert.equal(read("/user/eric/api?token=T", headers), undefined);
  }
});
