import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { createControlKey } from "../state/control-key.ts";
import { clusterPaths } from "../state/paths.ts";
import { chooseNumber, openAccountNumbers } from "./account-numbers.ts";
import { coversRange, listMissingCapabilities, setprivOptions } from "./find-obstacle.ts";

const state = mkdtempSync(join(tmpdir(), "swath-accounts-"));
after(() => rmSync(state, { recursive: true, force: true }));
const pathsOf = (cluster: string) => {
  const paths = clusterPaths(cluster, { SWATH_STATE_DIR: state });
  mkdirSync(paths.directory, { recursive: true });
  return paths;
};

test("numbers are kept, and none is given twice, in this cluster or another", () => {
  const first = openAccountNumbers(pathsOf("a"));
  const numbers = Array.from({ length: 200 }, (_, index) => first.numberOf(`component/${index}`));
  first.save();
  assert.equal(new Set(numbers).size, 200);
  assert.ok(numbers.every((number) => number >= 61_184 && number <= 65_519));
  const again = openAccountNumbers(pathsOf("a"));
  assert.equal(again.numberOf("component/7"), numbers[7]);
  const other = openAccountNumbers(pathsOf("b"));
  const others = Array.from({ length: 200 }, (_, index) => other.numberOf(`component/${index}`));
  assert.deepEqual(
    others.filter((number) => numbers.includes(number)),
    [],
  );
});

test("a range that is used up is an error, not a number that another one has", () => {
  const all = new Set(Array.from({ length: 65_519 - 61_184 + 1 }, (_, index) => 61_184 + index));
  assert.throws(() => chooseNumber("x", all), /taken/);
  all.delete(65_519);
  assert.equal(chooseNumber("x", all), 65_519);
});

test("the owner of a volume is known until something else may have written there", () => {
  const paths = pathsOf("c");
  const numbers = openAccountNumbers(paths);
  numbers.takeOver(createControlKey(paths));
  numbers.recordOwner("rm/objstore", 61_200);
  assert.equal(openAccountNumbers(paths).ownerOf("rm/objstore"), 61_200);
  numbers.recordOwner("rm/objstore", undefined);
  assert.equal(openAccountNumbers(paths).ownerOf("rm/objstore"), undefined);
  numbers.recordOwner("rm/objstore", 61_200);
  // The supervisor of a version that runs services as root makes a key as well.
  createControlKey(paths);
  assert.equal(openAccountNumbers(paths).ownerOf("rm/objstore"), undefined);
});

test("says which rights and numbers of users are missing", () => {
  assert.deepEqual(listMissingCapabilities("CapEff:\t000001ffffffffff\n"), []);
  // What containers of Docker have.
  assert.deepEqual(listMissingCapabilities("CapEff:\t00000000a80425fb\n"), ["CAP_SYS_PTRACE"]);
  assert.equal(coversRange("         0          0 4294967295\n"), true);
  assert.equal(coversRange("         0       1000          1\n         1     100000      65536\n"), true);
  assert.equal(coversRange("         0       1000          1\n"), false);
});

test(
  "a program has the account's numbers and no right besides those that are kept",
  { skip: process.getuid?.() !== 0 },
  () => {
    const show = (capabilities: readonly string[]) =>
      execFileSync(
        "setpriv",
        [...setprivOptions({ uid: 61_184, gid: 61_185, groups: [61_186], capabilities }), "cat", "/proc/self/status"],
        { encoding: "utf8" },
      );
    const confined = show([]);
    assert.match(confined, /^Uid:\s+61184\s+61184\s+61184\s+61184$/m);
    assert.match(confined, /^Groups:\s+61186 *$/m);
    assert.match(confined, /^CapEff:\s+0+$/m);
    assert.match(confined, /^CapBnd:\s+0+$/m);
    assert.match(confined, /^NoNewPrivs:\s+1$/m);
    assert.match(show(["net_bind_service"]), /^CapEff:\s+0+400$/m);
  },
);
