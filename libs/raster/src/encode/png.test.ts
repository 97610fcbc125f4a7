import assert from "node:assert/strict";
import { test } from "node:test";

import sharp from "sharp";

import { encodePng } from "./png.ts";

test("pixels of every kind of PNG are those that went in", async () => {
  for (const channels of [1, 2, 3, 4] as const) {
    for (const [width, height] of [
      [1, 1],
      [37, 29],
      [256, 256],
      [700, 600],
    ] as const) {
      // Noise meets each choice of a filter, and what wraps around.
      const data = Uint8Array.from({ length: width * height * channels }, (_, at) =>
        at % 5 === 0 ? 255 : Math.floor(Math.random() * 256),
      );
      const png = await encodePng({ width, height, channels, data });
      const decoded = await sharp(png).raw().toBuffer({ resolveWithObject: true });
      // Grey is decoded to three alike.
      assert.equal(decoded.info.channels, [3, 4, 3, 4][channels - 1]);
      const values =
        channels === 1
          ? decoded.data.filter((_, at) => at % 3 === 0)
          : channels === 2
            ? decoded.data.filter((_, at) => at % 4 === 0 || at % 4 === 3)
            : decoded.data;
      assert.ok(Buffer.from(values).equals(data), `${channels} channels, ${width} × ${height}`);
    }
  }
});

test("a picture of nothing is nothing", async () => {
  const data = new Uint8Array(64 * 64 * 4);
  const png = await encodePng({ width: 64, height: 64, channels: 4, data });
  assert.ok((await sharp(png).raw().toBuffer()).equals(data));
  assert.equal(png.buffer.byteLength, png.byteLength, "has memory of its own, which a thread can hand over");
});
