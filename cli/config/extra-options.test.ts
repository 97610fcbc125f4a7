import assert from "node:assert/strict";
import { test } from "node:test";
import { parseExtraOptions } from "./extra-options.ts";

test("ports are read in every form the cluster tool knows", () => {
  assert.deepEqual(parseExtraOptions("--ports=80:80,443:443").ports, [
    { machinePort: 80, clusterPort: 80 },
    { machinePort: 443, clusterPort: 443 },
  ]);
  assert.deepEqual(parseExtraOptions("--ports :8080:80 --ports=127.0.0.1:8443:443/tcp,[::1]:9443:443").ports, [
    { machinePort: 8080, clusterPort: 80 },
    { machinePort: 8443, clusterPort: 443, address: "127.0.0.1" },
    { machinePort: 9443, clusterPort: 443, address: "::1" },
  ]);
  assert.deepEqual(parseExtraOptions("--ports=80").ports, [{ machinePort: 80, clusterPort: 80 }]);
});

test("listen address and options of the cluster tool are kept apart", () => {
  const options = parseExtraOptions(`--listen-address=0.0.0.0 --driver=none --label "a b"`);
  assert.equal(options.listenAddress, "0.0.0.0");
  assert.deepEqual(options.others, ["--driver=none", "--label", "a b"]);
  assert.deepEqual(options.problems, []);
});

test("everything wrong is a problem", () => {
  for (const text of [
    "--ports=x:80",
    "--ports=0:80",
    "--ports=80:99999",
    "--ports=1.2.3:80:80",
    "--ports",
    "--listen-address=here",
    "--x 'a",
  ]) {
    assert.equal(parseExtraOptions(text).problems.length, 1, text);
  }
});
