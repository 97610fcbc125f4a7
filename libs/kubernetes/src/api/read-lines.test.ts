import assert from "node:assert/strict";
import { test } from "node:test";
import { readLines } from "./read-lines.ts";

test("lines come whole, however the bytes are cut", async () => {
  const bytes = new TextEncoder().encode('{"a":"ü"}\n\n{"b":1}\nend');
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      pieces.push(bytes.subarray(at, at + size));
    }
    const lines: string[] = [];
    for await (const line of readLines(pieces)) {
      lines.push(line);
    }
    assert.deepEqual(lines, ['{"a":"ü"}', '{"b":1}', "end"]);
  }
});
