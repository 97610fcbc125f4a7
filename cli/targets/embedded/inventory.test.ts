import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { takeInventory } from "./inventory.ts";
import { clusterPaths } from "./state/paths.ts";

test("removes whatever a cluster leaves, but for its addresses and backups, and says why these stay", () => {
  const folder = mkdtempSync(join(tmpdir(), "swath-inventory-"));
  try {
    const env = { SWATH_STATE_DIR: folder };
    const paths = clusterPaths("one", env);
    const files = [
      paths.clusterFile,
      paths.secretsFile,
      join(paths.directory, "releases.json"),
      join(paths.directory, "of-a-later-version.json"),
      join(paths.logs, "ades.log"),
      join(paths.tls, "one.key"),
      join(paths.volumes, "rm/objstore/object"),
      join(folder, "sealed/one.json"),
      join(folder, "sealed/other.json"),
      join(folder, "backups/one/1.swath"),
    ];
    for (const file of files) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "secret");
    }
    const { removed, kept } = takeInventory(paths, env);
    assert.deepEqual(
      removed.map(({ path }) => path.slice(folder.length)),
      [
        "/clusters/one/logs",
        "/clusters/one/of-a-later-version.json",
        "/clusters/one/releases.json",
        "/clusters/one/secrets.json",
        "/clusters/one/tls",
        "/clusters/one/volumes",
        "/sealed/one.json",
      ],
    );
    assert.deepEqual(
      kept.map(({ path }) => path.slice(folder.length)),
      ["/clusters/one/cluster.json", "/backups/one"],
    );
    assert.ok(kept.every(({ because }) => because !== ""));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
