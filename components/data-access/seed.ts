// Asks for all tiles of a layer, so that they are kept: see `swath data-access seed`.
import { defineSettings, loadSettings } from "@swath/service";
import { fetch } from "undici";

import { createAddressedAgent } from "./tiles/addressed-agent.ts";
import { showProgress } from "./tiles/show-progress.ts";
import { findTileMatrixSet, listTiles } from "./tiles/tile-matrix-sets.ts";

const MAX_TILES = 1_000_000;

const settings = loadSettings(
  defineSettings({
    SEED_URL: { kind: "url", description: "Data access" },
    SEED_ADDRESS: { kind: "string", optional: true, description: "IP address of its host, where no DNS knows it" },
    SEED_LAYER: { kind: "string", description: "The layer" },
    SEED_STYLE: { kind: "string", optional: true, description: "Its style; the first one when left out" },
    SEED_SET: { kind: "string", default: "WebMercatorQuad", description: "Tile matrix set" },
    SEED_ZOOMS: { kind: "string", default: "0-8", description: "Levels: 5, or 0-8" },
    SEED_TOKEN: { kind: "string", optional: true, secret: true, description: "Token of who may see the layer" },
    CONCURRENCY: { kind: "integer", default: 4, minimum: 1, maximum: 32, description: "Tiles at once" },
  }),
  process.env,
);

const { SEED_ADDRESS: address, SEED_LAYER: layer, SEED_TOKEN: token, SEED_STYLE: style } = settings;
const agent = createAddressedAgent(address);
const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
const collection = `${settings.SEED_URL.replace(/\/+$/, "")}/collections/${encodeURIComponent(layer)}`;

const set = findTileMatrixSet(settings.SEED_SET);
const [, first, last = first] = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(settings.SEED_ZOOMS) ?? [];
if (set === undefined || first === undefined) {
  throw new Error("SEED_SET must be a tile matrix set, and SEED_ZOOMS levels such as 0-8");
}
const described = await fetch(collection, { headers, dispatcher: agent });
if (!described.ok) {
  throw new Error(`the layer "${layer}" cannot be seen: status ${described.status}`);
}
const { extent } = (await described.json()) as { extent: { spatial: { bbox: readonly (readonly number[])[] } } };
const [west = -180, south = -90, east = 180, north = 90] = extent.spatial.bbox[0] ?? [];
const tiles = listTiles(set, [west, south, east, north], Number(first), Number(last), MAX_TILES);
const query = style === undefined ? "" : `?style=${encodeURIComponent(style)}`;
const progress = showProgress("tiles", tiles.length);
let failed = 0;
const waiting = tiles.values();
await Promise.all(
  Array.from({ length: settings.CONCURRENCY }, async () => {
    for (const { level, column, row } of waiting) {
      const response = await fetch(`${collection}/tiles/${set.id}/${level}/${column}/${row}.png${query}`, {
        headers,
        dispatcher: agent,
      });
      await response.arrayBuffer();
      failed += response.ok ? 0 : 1;
      progress.step();
    }
  }),
);
progress.finish(failed === 0 ? "" : `; ${failed} of them failed`);
await agent.close();
process.exitCode = failed === 0 ? 0 : 1;
