import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

interface Lock {
  readonly packages: Readonly<Record<string, { readonly resolved?: string; readonly dependencies?: object }>>;
}

test("names the archive of each package, in any folder and under another name, and leaves out those of other run times", () => {
  const folder = mkdtempSync(join(tmpdir(), "swath-lock-"));
  try {
    const file = join(folder, "package-lock.json");
    const packages = {
      "": { name: "swath", version: "0.1.0" },
      cli: { name: "@swath/cli", version: "0.0.0" },
      "node_modules/@swath/cli": { resolved: "cli", link: true },
      "node_modules/fastify": { version: "5.0.0", integrity: "sha512-a" },
      "cli/node_modules/@scope/inner": { version: "1.2.3-rc.1", integrity: "sha512-b" },
      "node_modules/tar-stream": {
        version: "3.0.0",
        integrity: "sha512-d",
        dependencies: { "bare-fs": "^4", b4a: "^1" },
      },
      "node_modules/alias": { name: "@other/real", version: "2.0.0", integrity: "sha512-c" },
    };
    writeFileSync(file, JSON.stringify({ packages }));
    execFileSync("node", [join(import.meta.dirname, "prepare-lock.mjs"), file, "https://mirror.example/npm"]);
    const { packages: found } = JSON.parse(readFileSync(file, "utf8")) as Lock;
    assert.deepEqual(
      Object.entries(found).map(([path, { resolved }]) => [path, resolved]),
      [
        ["", undefined],
        ["cli", undefined],
        ["node_modules/@swath/cli", "cli"],
        ["node_modules/fastify", "https://mirror.example/npm/fastify/-/fastify-5.0.0.tgz"],
        ["cli/node_modules/@scope/inner", "https://mirror.example/npm/@scope/inner/-/inner-1.2.3-rc.1.tgz"],
        ["node_modules/tar-stream", "https://mirror.example/npm/tar-stream/-/tar-stream-3.0.0.tgz"],
        ["node_modules/alias", "https://mirror.example/npm/@other/real/-/real-2.0.0.tgz"],
      ],
    );
    assert.deepEqual(found["node_modules/tar-stream"]?.dependencies, { b4a: "^1" }, "Node.js needs no bare-fs");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
