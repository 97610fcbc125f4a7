import assert from "node:assert/strict";
import { test } from "node:test";

import { createAddressGuard } from "./addresses.ts";

const PRIVATE = [
  "127.0.0.1",
  "10.1.2.3",
  "172.16.0.1",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "0.0.0.0",
  "::1",
  "fe80::1",
  "fd00::1",
  "::ffff:10.1.2.3",
];

const isAllowed = (allowed: readonly string[], host: string): boolean => {
  try {
    createAddressGuard(allowed).checkHost(host, "http://somewhere/");
    return true;
  } catch {
    return false;
  }
};

test("no private address may be connected to by default, and a public one may", () => {
  assert.deepEqual(
    PRIVATE.filter((host) => isAllowed([], host)),
    [],
  );
  assert.ok(isAllowed([], "93.184.215.14") && isAllowed([], "2606:2800:21f:cb07:6820:80da:af6b:8b2c"));
});

test("what the operator names is allowed, and nothing beside it", () => {
  const allowed = ["10.1.0.0/16", "192.168.1.1", "fd00::/8", "data.intranet"];
  assert.deepEqual(
    PRIVATE.filter((host) => isAllowed(allowed, host)),
    ["10.1.2.3", "192.168.1.1", "fd00::1", "::ffff:10.1.2.3"],
  );
});

test("a name that is allowed may resolve to a private address, others may not", async () => {
  const resolve = (allowed: readonly string[]) =>
    new Promise<Error | null>((done) => {
      createAddressGuard(allowed).lookup("localhost", { all: true }, (error) => done(error));
    });
  assert.equal(await resolve(["LocalHost"]), null);
  assert.match((await resolve(["other"]))?.message ?? "", /is a private address.*PROCESSING_ALLOW_PRIVATE/);
});

test("an entry that cannot be understood is an error", () => {
  for (const entry of ["10.0.0.0/33", "http://data.intranet/", "10.0.0", "a b"]) {
    assert.throws(() => createAddressGuard([entry]), /allowed: host names, addresses, and networks/, entry);
  }
});
