import assert from "node:assert/strict";
import { test } from "node:test";

import { findMountOf, listHostMounts, listMountsBelow } from "./host-mounts.ts";

const TEXT = [
  String.raw`22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw`,
  String.raw`23 22 0:21 / /usr ro,nosuid,relatime - ext4 /dev/vdb ro`,
  String.raw`24 23 0:22 / /usr/local rw,noexec,relatime - ext4 /dev/vdc rw`,
  String.raw`25 22 0:23 / /srv/a\040b rw - ext4 /dev/vdd rw`,
  "",
].join("\n");

test("finds the mount of a path, with the options that a user name space must keep, and those below it", () => {
  const mounts = listHostMounts(TEXT);
  assert.deepEqual(findMountOf("/usr/bin/node", mounts), { target: "/usr", locked: ["ro"] });
  assert.deepEqual(findMountOf("/usr/local", mounts), { target: "/usr/local", locked: ["noexec"] });
  assert.deepEqual(findMountOf("/srv/a b/c", mounts)?.target, "/srv/a b");
  assert.deepEqual(findMountOf("/usrx", mounts)?.target, "/");
  assert.deepEqual(
    listMountsBelow("/usr", mounts).map(({ target }) => target),
    ["/usr/local"],
  );
  assert.deepEqual(listMountsBelow("/srv/a", mounts), []);
});
