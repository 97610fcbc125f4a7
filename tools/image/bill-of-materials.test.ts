import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { listMaterials } from "./bill-of-materials.ts";

const component = (name: string, version: string) => ({
  "bom-ref": `${name}@${version}`,
  name,
  version,
  purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
});

test("the bill of materials lists what is there, each version of it, and nothing else", (t) => {
  const app = mkdtempSync(join(tmpdir(), "swath-materials-"));
  t.after(() => rmSync(app, { recursive: true }));
  for (const [folder, name, version] of [
    ["node_modules/a", "a", "1.0.0"],
    ["node_modules/@scope/b", "@scope/b", "2.0.0"],
    ["node_modules/a/node_modules/c", "c", "3.0.0"],
    ["components/own", "@swath/own", "0.0.0"],
  ] as const) {
    mkdirSync(join(app, folder), { recursive: true });
    writeFileSync(join(app, folder, "package.json"), JSON.stringify({ name, version }));
  }
  const listed = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    serialNumber: "urn:uuid:1",
    metadata: { timestamp: "now", component: component("folder", "0.1.0") },
    components: [
      component("a", "1.0.0"),
      component("@scope/b", "2.0.0"),
      component("c", "3.0.0"),
      component("c", "4.0.0"),
      component("pruned", "1.0.0"),
      component("@swath/own", "0.0.0"),
    ],
    dependencies: [
      { ref: "folder@0.1.0", dependsOn: ["a@1.0.0", "pruned@1.0.0"] },
      { ref: "pruned@1.0.0", dependsOn: ["c@4.0.0"] },
    ],
  };
  const made = JSON.parse(listMaterials(app, JSON.stringify(listed))) as Record<string, unknown>;
  assert.deepEqual(made["metadata"], { component: { ...component("folder", "0.1.0"), name: "swath" } });
  assert.equal("serialNumber" in made, false);
  assert.deepEqual(
    (made["components"] as { "bom-ref": string }[]).map((each) => each["bom-ref"]),
    ["a@1.0.0", "@scope/b@2.0.0", "c@3.0.0", "@swath/own@0.0.0"],
  );
  assert.deepEqual(made["dependencies"], [{ ref: "folder@0.1.0", dependsOn: ["a@1.0.0"] }]);
});
