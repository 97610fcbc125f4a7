import { type Html, html } from "@swath/pages";

import { GeometryError, toFootprint } from "../model/footprint.ts";

/** A drawing of where a record is on the Earth, without script; `false` for records without place. */
export function renderFootprint(geometry: unknown): Html | false {
  if (geometry === null || geometry === undefined) {
    return false;
  }
  try {
    const { box: bbox, shapes } = toFootprint(geometry);
    const [west, south, east, north] = bbox;
    const rings = shapes ?? [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
      ] as const,
    ];
    // A thin frame of the globe, and the part around the record larger beside it.
    const margin = Math.max((east - west) * 0.2, (north - south) * 0.2, 0.05);
    const near = `${west - margin} ${-north - margin} ${east - west + 2 * margin} ${north - south + 2 * margin}`;
    const polygons = rings.map((ring) => html`<polygon points="${ring.map(([x, y]) => `${x},${-y}`).join(" ")}" />`);
    const label = `Footprint from ${round(west)} to ${round(east)} degrees of longitude and ${round(south)} to ${round(north)} of latitude`;
    return html`<p>
        <svg
          role="img"
          aria-label="${label}"
          viewBox="-180 -90 540 180"
          width="320"
          height="107"
          fill="none"
          stroke="currentColor"
          stroke-width="1"
        >
          <rect x="-180" y="-90" width="540" height="180" opacity="0.4" />
          <line x1="-180" x2="360" y1="0" y2="0" opacity="0.3" />
          <line x1="0" x2="0" y1="-90" y2="90" opacity="0.3" />
          <g fill="currentColor" stroke-width="3">${polygons}</g>
        </svg>
        <svg
          aria-hidden="true"
          viewBox="${near}"
          width="160"
          height="107"
          fill="currentColor"
          fill-opacity="0.25"
          stroke="currentColor"
          stroke-width="${margin / 20}"
        >
          ${polygons}
        </svg>
      </p>
      <p class="hint">${label}.</p>`;
  } catch (error) {
    if (error instanceof GeometryError) {
      return false;
    }
    throw error;
  }
}

const round = (value: number): number => Math.round((value > 180 ? value - 360 : value) * 1000) / 1000;
