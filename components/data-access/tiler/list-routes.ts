import { COLORMAP_NAMES, TERRAIN_ALGORITHMS, namedColorTable } from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";

import { baseUrlOf } from "../http/context.ts";

const tagged = { schema: { tags: ["cog"] } as object };

/** What `algorithm` and `colormap_name` may be, at the paths of today's tilers. */
export function addListRoutes(app: FastifyInstance): void {
  const describe = (id: string) => ({ title: id, inputs: { nbands: 1 }, outputs: { nbands: 1 } });
  app.get("/algorithms", tagged, async () => Object.fromEntries(TERRAIN_ALGORITHMS.map((id) => [id, describe(id)])));
  app.get("/algorithms/:name", tagged, async (request) => {
    const { name } = request.params as { name: string };
    const id = TERRAIN_ALGORITHMS.find((each) => each === name);
    if (id === undefined) {
      throw new Problem(404, `There is no algorithm "${name.slice(0, 50)}"; /algorithms lists them.`);
    }
    return describe(id);
  });
  app.get("/colorMaps", tagged, async (request) => ({
    colormaps: COLORMAP_NAMES,
    links: [
      { rel: "self", type: "application/json", href: `${baseUrlOf(request)}/colorMaps` },
      {
        rel: "item",
        type: "application/json",
        href: `${baseUrlOf(request)}/colorMaps/{colorMapId}`,
        templated: true,
      },
    ],
  }));
  app.get("/colorMaps/:name", tagged, async (request) => {
    const { name } = request.params as { name: string };
    if (!COLORMAP_NAMES.includes(name)) {
      throw new Problem(404, `There is no colour map "${name.slice(0, 50)}"; /colorMaps lists them.`);
    }
    const table = namedColorTable(name);
    return Object.fromEntries(
      Array.from({ length: table.length / 4 }, (_, value) => [value, [...table.subarray(value * 4, value * 4 + 4)]]),
    );
  });
}
