import assert from "node:assert/strict";
import { test } from "node:test";

import { curveOf } from "./color-operations.ts";
import { renderPlanes } from "./render-image.ts";

test("operations change the bands that they name, in their order, as rio-color does", () => {
  const operations = [
    { kind: "gamma", bands: [0], gamma: 2 },
    { kind: "sigmoidal", bands: [0, 1], contrast: 10, bias: 0.5 },
  ] as const;
  // rio_color.operations.sigmoidal(gamma(0.25, 2), 10, 0.5) and sigmoidal(0.25, 10, 0.5)
  assert.ok(Math.abs(curveOf(operations, 0)!.apply(0.25) - 0.5) < 1e-9);
  assert.ok(Math.abs(curveOf(operations, 1)!.apply(0.25) - 0.070_110) < 1e-5);
  assert.equal(curveOf(operations, 2), undefined);
  assert.deepEqual([0, 1].map(curveOf(operations, 1)!.apply), [0, 1]);
});

test("bands are rendered to bytes by their range, or to the colours of a colour map", () => {
  const plane = {
    samples: Uint16Array.of(0, 500, 1000, 7),
    mask: Uint8Array.of(255, 255, 255, 0),
    type: "uint16",
  } as const;
  const [grey] = renderPlanes([plane], 2, 2, { rescale: [[0, 1000]] });
  assert.deepEqual([grey!.type, ...grey!.samples.subarray(0, 3)], ["uint8", 0, 128, 255]);
  const colors = renderPlanes([plane], 2, 2, { rescale: [[0, 1000]], colormap: { kind: "named", name: "gray" } });
  assert.deepEqual(
    colors.map(({ samples }) => [...samples.subarray(0, 3)]),
    [
      [0, 128, 255],
      [0, 128, 255],
      [0, 128, 255],
    ],
  );
  assert.deepEqual([...colors[0]!.mask], [255, 255, 255, 0]);
});
