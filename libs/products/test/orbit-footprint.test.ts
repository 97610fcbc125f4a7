import assert from "node:assert/strict";
import { test } from "node:test";

import { type Position, type Ring, findGeometryIssues } from "@swath/stac/geometry";
import type { Polygons } from "@swath/stac/repair-geometry";

import { toFootprint } from "../src/footprint.ts";

const RADIUS_KM = 6371;
/** Of Sentinel-3: inclination, minutes of an orbit, and its swaths in km. */
const [INCLINATION, ORBIT_MINUTES] = [98.65, 100.99];
const radians = (degrees: number): number => (degrees * Math.PI) / 180;
const degrees = (angle: number): number => (angle * 180) / Math.PI;
type Vector = readonly [x: number, y: number, z: number];

/** A place on the ground `offsetKm` right of the track, at a time in minutes after the ascending node at `node` degrees. */
function placeAt(minutes: number, offsetKm: number, node: number): Position {
  const angle = (2 * Math.PI * minutes) / ORBIT_MINUTES;
  const [sinI, cosI] = [Math.sin(radians(INCLINATION)), Math.cos(radians(INCLINATION))];
  const below: Vector = [Math.cos(angle), Math.sin(angle) * cosI, Math.sin(angle) * sinI];
  const right: Vector = [0, sinI, -cosI];
  const away = offsetKm / RADIUS_KM;
  const [x, y, z] = below.map(
    (value, axis) => value * Math.cos(away) + (right[axis] ?? 0) * Math.sin(away),
  ) as unknown as Vector;
  const longitude = node + degrees(Math.atan2(y, x)) - (minutes / 1440) * 360;
  return [((((longitude + 180) % 360) + 360) % 360) - 180, degrees(Math.asin(z))];
}

/** The outline of a swath as manifests have it: along one edge and back along the other. */
function outlineOf(from: number, to: number, widthKm: number, node: number): Position[] {
  const steps = Math.ceil((to - from) * 2.5);
  const times = Array.from({ length: steps + 1 }, (_, step) => from + ((to - from) * step) / steps);
  const across = [-0.25, 0, 0.25].map((share) => share * widthKm);
  return [
    ...times.map((time) => placeAt(time, -widthKm / 2, node)),
    ...across.map((offset) => placeAt(to, offset, node)),
    ...times.toReversed().map((time) => placeAt(time, widthKm / 2, node)),
    ...across.toReversed().map((offset) => placeAt(from, offset, node)),
  ];
}

function isIn(polygons: Polygons, [x, y]: Position): boolean {
  const crossings = (ring: Ring): number =>
    ring.slice(0, -1).filter(([ax, ay], index) => {
      const [bx, by] = ring[index + 1] as Position;
      return ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax);
    }).length;
  return polygons.some((polygon) => polygon.reduce((sum, ring) => sum + crossings(ring), 0) % 2 === 1);
}

for (const [what, from, to, widthKm] of [
  ["three minutes", 10, 13, 1270],
  ["over the north pole", 20, 30, 1270],
  ["half an orbit of OLCI, over the north pole", 3, 47, 1270],
  ["half an orbit over the south pole", 55, 98, 1420],
  ["an orbit of SLSTR, but for its ends", 2, 97, 1420],
] as const) {
  test(`the footprint of a swath: ${what}`, () => {
    // Nodes put the antimeridian and the poles on each part of the outline.
    for (let node = -180; node < 180; node += 17) {
      const { geometry, bbox } = toFootprint(outlineOf(from, to, widthKm, node));
      assert.deepEqual(findGeometryIssues(geometry), [], `node ${node}`);
      const polygons = (geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates) as Polygons;
      const positions = polygons.flat(2);
      assert.ok(positions.every(([x, y]) => Math.abs(x) <= 180 && Math.abs(y) <= 90));
      const [west = 0, south = 0, east = 0, north = 0] = bbox;
      let [right, seen] = [0, 0];
      for (let time = from + 0.5; time < to; time += 0.5) {
        for (const share of [-0.45, -0.2, 0, 0.2, 0.45]) {
          const place = placeAt(time, share * widthKm, node);
          const isInBox =
            place[1] >= south &&
            place[1] <= north &&
            (west <= east ? place[0] >= west && place[0] <= east : place[0] >= west || place[0] <= east);
          seen += 1;
          right += isInBox && isIn(polygons, place) ? 1 : 0;
        }
        // Far from the swath, on the same side of the Earth; what other parts of the orbit see is left out.
        if (to - from <= 44) {
          const place = placeAt(time, widthKm * 1.5, node);
          seen += 1;
          right += isIn(polygons, place) ? 0 : 1;
        }
      }
      // Where the swath crosses itself near a pole it counts as outside.
      const least = to - from > 60 ? 0.95 : 0.985;
      assert.ok(right / seen >= least, `node ${node}: ${right} of ${seen}`);
    }
  });
}
