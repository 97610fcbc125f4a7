import assert from "node:assert/strict";
import { test } from "node:test";

import { readSbom } from "./sbom.ts";

const read = (document: unknown) => readSbom(Buffer.from(JSON.stringify(document)));

test("bills of materials in SPDX and CycloneDX name their packages, and other documents are none", () => {
  const spdx = {
    spdxVersion: "SPDX-2.3",
    packages: [{ name: "zlib", versionInfo: "1.3", licenseConcluded: "NOASSERTION", licenseDeclared: "Zlib" }, null, 7],
  };
  assert.deepEqual(read(spdx), {
    format: "SPDX",
    total: 1,
    packages: [{ name: "zlib", version: "1.3", license: "Zlib" }],
  });
  const licenses = [{ license: { id: "MIT" } }, { expression: "Apache-2.0 OR BSD-3-Clause" }, null];
  assert.deepEqual(read({ bomFormat: "CycloneDX", components: [{ name: "a", version: "2", licenses }, { name: 3 }] }), {
    format: "CycloneDX",
    total: 2,
    packages: [
      { name: "a", version: "2", license: "MIT, Apache-2.0 OR BSD-3-Clause" },
      { name: "", version: null, license: null },
    ],
  });
  assert.equal(read({ bomFormat: "other" }), undefined);
  assert.equal(read(null), undefined);
  assert.equal(readSbom(Buffer.from("no JSON")), undefined);
});
