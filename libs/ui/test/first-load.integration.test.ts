import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";

import { buildWebPages } from "../../../cli/web-pages.ts";
import { listWebs, webFolder } from "../build/web-sources.ts";

const ROOT = join(import.meta.dirname, "../../..");
/** Bytes of compressed script that the first page of an app may need. */
const LIMIT = 250_000;

for (const app of listWebs(ROOT)) {
  test(`the first load of ${app} is at most ${LIMIT} bytes of compressed script`, async (t) => {
    // Waits where another test builds it.
    await buildWebPages({ components: [app], stdout: process.stdout });
    const scripts = findScripts(join(webFolder(ROOT, app), "dist"));
    const bytes = [...scripts.values()].reduce((sum, size) => sum + size, 0);
    t.diagnostic(`${bytes} bytes in ${scripts.size} files`);
    assert.ok(scripts.size > 1 && bytes > 50_000, "the scripts of the page were not found");
    assert.ok(bytes <= LIMIT, [...scripts].map(([name, size]) => `${name} ${size}`).join("\n"));
  });
}

/** The scripts that a page names and what these import at once, with their compressed sizes. */
function findScripts(dist: string): ReadonlyMap<string, number> {
  const page = readFileSync(join(dist, "index.html"), "utf8");
  const open = [...page.matchAll(/(?:src|href)="\/assets\/([^"]+\.js)"/g)].map(([, name]) => name ?? "");
  const sizes = new Map<string, number>();
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (sizes.has(name)) {
      continue;
    }
    const text = readFileSync(join(dist, "assets", name), "utf8");
    sizes.set(name, brotliCompressSync(text).length);
    open.push(
      ...[...text.matchAll(/(?:\bimport|\bfrom)\s*["'`]\.\/([^"'`]+\.js)["'`]/g)].map(([, found]) => found ?? ""),
    );
  }
  return sizes;
}
