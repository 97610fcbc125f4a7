import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import assert from "node:assert/strict";

const MODULE = pathToFileURL(join(import.meta.dirname, "source-positions.ts")).href;

test("names positions of the program's own bundles, and opens no other file that a line of the log names", () => {
  const folder = mkdtempSync(join(tmpdir(), "swath positions (+)-"));
  const elsewhere = mkdtempSync(join(tmpdir(), "swath-elsewhere-"));
  const map = JSON.stringify({ version: 3, sources: ["../a.ts"], names: [], mappings: "AAAA" });
  try {
    for (const place of [folder, elsewhere]) {
      writeFileSync(join(place, "a.mjs.map"), map);
    }
    writeFileSync(
      join(folder, "main.mjs"),
      `import { nameSourcePositions } from ${JSON.stringify(MODULE)};
       console.log(JSON.stringify(process.argv.slice(2).map(nameSourcePositions)));`,
    );
    const texts = [
      `at ${join(folder, "a.mjs")}:1:1`,
      `at f (${pathToFileURL(folder).href}/a.mjs:1:1)`,
      `GET ${elsewhere}/a.mjs:1:1`,
      `GET ${folder}/../${elsewhere}/a.mjs:1:1`,
      `GET ${folder}/missing.mjs:1:1`,
      `${"/".repeat(100_000)}a.mjs:1:1`,
    ];
    const { stdout, stderr } = spawnSync(process.execPath, [join(folder, "main.mjs"), ...texts], { encoding: "utf8" });
    assert.equal(stderr, "");
    const source = `${join(folder, "..", "a.ts")}:1:1`;
    assert.deepEqual(JSON.parse(stdout), [`at ${source}`, `at f (${source})`, ...texts.slice(2)]);
  } finally {
    rmSync(folder, { recursive: true });
    rmSync(elsewhere, { recursive: true });
  }
});
