import assert from "node:assert/strict";
import { test } from "node:test";

import { EMPTY_LOG, addPieces, closeLog } from "../../web/processing/model/log-lines.ts";

test("pieces become lines, each step's for itself", () => {
  let log = addPieces(EMPTY_LOG, [
    { step: "a", text: "one\ntw" },
    { step: "b", text: "other\n" },
    { step: "a", text: "o\n" },
  ]);
  assert.deepEqual(
    log.lines.map(({ number, step, text }) => [number, step, text]),
    [
      [1, "a", "one"],
      [2, "b", "other"],
      [3, "a", "two"],
    ],
  );
  log = closeLog(addPieces(log, [{ step: "b", text: "no end" }]));
  assert.equal(log.lines.at(-1)?.text, "no end");
  assert.equal(closeLog(log).lines.length, 4);
});

test("colours and overwritten progress are taken out; the oldest lines go first", () => {
  const log = addPieces(EMPTY_LOG, [{ step: "", text: "\u001b[31mred\u001b[0m\r\n10 %\r20 %\nlast\n" }], 2);
  assert.deepEqual(
    log.lines.map(({ text }) => text),
    ["20 %", "last"],
  );
  assert.equal(log.dropped, 1);
});
