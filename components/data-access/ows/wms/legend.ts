import { namedColorTable, stopsColorTable } from "@swath/raster";
import sharp from "sharp";

import type { LayerStyle } from "../../layers/layer.ts";
import { escapeXml } from "../ows-error.ts";

export const LEGEND_WIDTH = 200;
const STEPS = 64;
const CHANNELS = ["#e03131", "#2f9e44", "#1971c2"];

/** Pixels; capabilities say so as well. */
export const legendHeightOf = ({ expressions }: LayerStyle): number => (expressions.length > 1 ? 72 : 62);

/** The colours of a style with the values they stand for. */
export async function drawLegend(style: LayerStyle): Promise<Buffer> {
  const isComposite = style.expressions.length > 1;
  const [min, max] = style.rescale?.[0] ?? ["low", "high"];
  const channels = style.expressions
    .slice(0, 3)
    .map(
      (name, at) =>
        `<rect x="8" y="${26 + at * 14}" width="12" height="10" fill="${CHANNELS[at]}"/><text x="26" y="${35 + at * 14}" font-size="10">${escapeXml(name)}</text>`,
    );
  const body = isComposite
    ? channels.join("")
    : `${toRamp(style)}<text x="8" y="56" font-size="10">${escapeXml(String(min))}</text><text x="${LEGEND_WIDTH - 8}" y="56" font-size="10" text-anchor="end">${escapeXml(String(max))}</text>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${LEGEND_WIDTH}" height="${legendHeightOf(style)}" font-family="sans-serif"><rect width="100%" height="100%" fill="#fff"/><text x="8" y="16" font-size="11">${escapeXml(style.title.slice(0, 40))}</text>${body}</svg>`;
  return sharp(Buffer.from(svg)).png().toBuffer();
}

function toRamp({ colormap }: LayerStyle): string {
  const table =
    colormap?.kind === "named"
      ? namedColorTable(colormap.name)
      : colormap?.kind === "stops"
        ? stopsColorTable(colormap.stops)
        : namedColorTable("gray");
  const width = (LEGEND_WIDTH - 16) / STEPS;
  return Array.from({ length: STEPS }, (_, step) => {
    const at = Math.round((step / (STEPS - 1)) * 255) * 4;
    return `<rect x="${8 + step * width}" y="24" width="${width + 0.5}" height="16" fill="rgb(${table[at]},${table[at + 1]},${table[at + 2]})"/>`;
  }).join("");
}
