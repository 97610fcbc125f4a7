import assert from "node:assert/strict";
import { test } from "node:test";

import { findGeometryIssues } from "./check-geometry.ts";
import { repairGeometry } from "./repair-geometry.ts";
import { type Position, areaOf, closeAroundPole, unwrap } from "./ring.ts";
import { findSelfIntersection } from "./self-intersection.ts";

const close = (ring: readonly Position[]) => [...ring, ring[0] as Position];
const polygon = (...rings: readonly (readonly Position[])[]) => ({ type: "Polygon", coordinates: rings.map(close) });

const BOW_TIE: readonly Position[] = [
  [0, 0],
  [1, 1],
  [1, 0],
  [0, 1],
];
const SQUARE: readonly Position[] = [
  [0, 0],
  [4, 0],
  [4, 4],
  [0, 4],
];

test("finds where a ring crosses, touches or covers itself", () => {
  const cases: readonly (readonly [string, readonly Position[], Position | undefined])[] = [
    ["square", SQUARE, undefined],
    ["bow tie", BOW_TIE, [0.5, 0.5]],
    [
      "repeated position",
      [
        [0, 0],
        [0, 0],
        [4, 0],
        [4, 4],
      ],
      undefined,
    ],
    [
      "corner on another edge",
      [
        [0, 0],
        [4, 0],
        [4, 4],
        [2, 0],
        [0, 4],
      ],
      [2, 0],
    ],
    [
      "corner that occurs twice",
      [
        [0, 0],
        [2, 2],
        [4, 0],
        [4, 4],
        [2, 2],
        [0, 4],
      ],
      [2, 2],
    ],
    [
      "spike",
      [
        [0, 0],
        [4, 0],
        [8, 0],
        [4, 0],
        [4, 4],
      ],
      [4, 0],
    ],
    [
      "collinear corners",
      [
        [0, 0],
        [2, 0],
        [4, 0],
        [4, 4],
      ],
      undefined,
    ],
    [
      "edges side by side",
      [
        [0, 0],
        [4, 0],
        [4, 1e-9],
        [0, 1e-9],
      ],
      undefined,
    ],
  ];
  for (const [what, ring, expected] of cases) {
    assert.deepEqual(findSelfIntersection(ring), expected, what);
    assert.deepEqual(
      findSelfIntersection(ring.toReversed()) !== undefined,
      expected !== undefined,
      `${what}, reversed`,
    );
  }
});

test("finds the crossing among thousands of edges, and gives up where too many lie side by side", () => {
  const circle = Array.from({ length: 50_000 }, (_, index): Position => {
    const angle = (index / 50_000) * 2 * Math.PI;
    return [90 * Math.cos(angle), 80 * Math.sin(angle)];
  });
  assert.equal(findSelfIntersection(circle), undefined);
  const swapped = circle.with(1000, circle[1001] as Position).with(1001, circle[1000] as Position);
  assert.notEqual(findSelfIntersection(swapped), undefined);
  // A comb, each edge of which is as wide as the ring, with a bow tie at its end, which is met last.
  const comb = Array.from({ length: 20_000 }, (_, index): Position => [index % 2 === 0 ? -90 : 90, index * 1e-4]);
  const around: readonly Position[] = [
    [120, 20],
    [120, -5],
    [-100, -5],
  ];
  const tie = [...BOW_TIE.map(([x, y]): Position => [x + 100, y + 10]), ...around];
  assert.notEqual(findSelfIntersection([...comb.slice(0, 100), ...tie]), undefined);
  assert.equal(findSelfIntersection([...comb, ...tie]), undefined);
});

test("all rings of a geometry share what may be spent on them", () => {
  const close = (ring: readonly (readonly [number, number])[]) => [[...ring, ring[0]]];
  const comb: readonly Position[] = [
    ...Array.from({ length: 20_000 }, (_, index): Position => [index % 2 === 0 ? -90 : 90, index * 1e-4]),
    [120, 20],
    [120, -5],
    [-100, -5],
  ];
  const bowTie = [
    [0, 30],
    [1, 31],
    [1, 30],
    [0, 31],
  ] as const;
  const issuesOf = (...rings: readonly (readonly (readonly [number, number])[])[]) =>
    findGeometryIssues({ type: "MultiPolygon", coordinates: rings.map(close) });
  assert.equal(issuesOf(bowTie, comb).length, 1);
  assert.deepEqual(issuesOf(comb, bowTie), [], "the comb took it all");
});

test("rings across the antimeridian and around a pole are followed as they are meant", () => {
  const meant: readonly (readonly Position[])[] = [
    [
      [179, 10],
      [-179, 10],
      [-179, 11],
      [179, 11],
    ],
    [
      [-180, -90],
      [180, -90],
      [180, 90],
      [-180, 90],
    ],
    [
      [0, 80],
      [90, 82],
      [180, 81],
      [-90, 83],
    ],
    [
      [0, 80],
      [-90, 82],
      [180, 81],
      [90, 83],
    ],
    [
      [0, -80],
      [-90, -82],
      [180, -81],
      [90, -83],
    ],
  ];
  for (const ring of meant) {
    assert.deepEqual(findGeometryIssues(polygon(ring)), [], JSON.stringify(ring));
  }
  assert.equal(closeAroundPole(unwrap(meant[2]!)).length, 7);
  assert.equal(closeAroundPole(unwrap(meant[3]!)).length, 7);
});

test("says which ring of which polygon, and passes over what is no geometry", () => {
  assert.deepEqual(
    findGeometryIssues(
      polygon(
        SQUARE,
        BOW_TIE.map(([x, y]): Position => [x + 1, y + 1]),
      ),
    ),
    [{ path: "/coordinates/1", rule: "must not cross or touch itself, as it does at 1.5 1.5" }],
  );
  const multi = { type: "MultiPolygon", coordinates: [[close(SQUARE)], [close(BOW_TIE)]] };
  assert.equal(findGeometryIssues(multi)[0]?.path, "/coordinates/1/0");
  assert.equal(
    findGeometryIssues({ type: "GeometryCollection", geometries: [multi] })[0]?.path,
    "/geometries/0/coordinates/1/0",
  );
  for (const other of [null, 1, {}, { type: "Polygon" }, { type: "Polygon", coordinates: [[1, 2, 3, 4]] }]) {
    assert.deepEqual(findGeometryIssues(other), []);
    assert.equal(repairGeometry(other), other);
  }
});

test("repairs polygons that cross themselves, and leaves others as they are", () => {
  const whole = polygon(SQUARE);
  assert.equal(repairGeometry(whole), whole);
  const repaired = repairGeometry(polygon(BOW_TIE)) as { type: string; coordinates: Position[][][] };
  assert.equal(repaired.type, "MultiPolygon");
  assert.deepEqual(findGeometryIssues(repaired), []);
  const areas = repaired.coordinates.map(([ring = []]) => areaOf(ring.slice(0, -1)));
  assert.deepEqual(areas, [0.25, 0.25]);
  const spike = repairGeometry(
    polygon([
      [0, 0],
      [4, 0],
      [8, 0],
      [4, 0],
      [4, 4],
      [0, 4],
    ]),
  ) as typeof whole;
  assert.equal(spike.type, "Polygon");
  assert.equal(areaOf((spike.coordinates[0] ?? []).slice(0, -1)), 16);
  const holed = repairGeometry(
    polygon(SQUARE, [
      [1, 1],
      [2, 2],
      [2, 1],
      [1, 2],
    ]),
  ) as typeof whole;
  assert.equal(holed.coordinates.length, 3);
  assert.deepEqual(findGeometryIssues(holed), []);
});

test("leaves alone what is too tangled or has no area", () => {
  const tangled = polygon(
    Array.from({ length: 101 }, (_, index): Position => {
      const angle = ((index * 50) / 101) * 2 * Math.PI;
      return [Math.cos(angle), Math.sin(angle)];
    }),
  );
  assert.notDeepEqual(findGeometryIssues(tangled), []);
  assert.equal(repairGeometry(tangled), tangled);
  const line = polygon([
    [0, 0],
    [1, 1],
    [2, 2],
  ]);
  assert.equal(repairGeometry(line), line);
});

test("repairs rings of any form, across the antimeridian and around poles, or leaves them as they are", () => {
  // The same numbers in each run (Lehmer's generator).
  let state = 7;
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  let [broken, repaired] = [0, 0];
  for (let index = 0; index < 600; index += 1) {
    const isPolar = index % 3 === 0;
    const step = index % 2 === 0 ? 5 : 1e-6;
    const ring = Array.from({ length: 3 + Math.floor(random() * 9) }, (): Position => {
      const [x, y] = isPolar ? [160 + random() * 40, 60 + random() * 30] : [random() * 360 - 180, random() * 180 - 90];
      const snapped = Math.round(x / step) * step;
      return [snapped > 180 ? snapped - 360 : snapped, Math.round(y / step) * step];
    });
    const geometry = polygon(ring);
    if (findGeometryIssues(geometry).length > 0) {
      const result = repairGeometry(geometry);
      broken += 1;
      repaired += result === geometry ? 0 : 1;
      assert.ok(result === geometry || findGeometryIssues(result).length === 0, JSON.stringify(ring));
    }
  }
  assert.ok(broken > 300 && repaired / broken > 0.9, `${repaired} of ${broken}`);
});
