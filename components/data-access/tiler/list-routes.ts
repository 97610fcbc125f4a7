import { COLORMAP_NAMES, namedColorTable } from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import sharp, { type Sharp } from "sharp";

import { baseUrlOf } from "../http/context.ts";
import { escapeXml } from "../ows/ows-error.ts";
import { ALGORITHMS, type Algorithm } from "./algorithms.ts";
import { type Query, parseCount, parseOneOf } from "./parameters.ts";

const MAX_SIDE = 4096;
const FORMATS = ["json", "html"] as const;
const COLORMAP_FORMATS = [...FORMATS, "png", "jpg", "jpeg", "webp"] as const;

/** Routes that say what `algorithm` and `colormap_name` may be, at the paths of today's tilers. */
export function addListRoutes(app: FastifyInstance): void {
  const get = (
    path: string,
    names: readonly string[],
    handler: (request: FastifyRequest, reply: FastifyReply) => unknown,
  ) =>
    app.get(
      path,
      {
        schema: { tags: ["cog"], querystring: { type: "object", properties: toProperties(names) } } as object,
        preValidation: async ({ query }) => checkNames(query as Query, names),
      },
      async (request, reply) => handler(request, reply),
    );

  get("/algorithms", ["f"], (request, reply) => sendList(request, reply, "algorithms", [...ALGORITHMS.keys()]));
  get("/algorithms/:name", ["f"], (request, reply) => {
    const { name } = request.params as { name: string };
    const found = ALGORITHMS.get(name);
    if (found === undefined) {
      throw new Problem(404, `There is no algorithm "${name.slice(0, 50)}"; /algorithms lists them.`);
    }
    const document = describe(found);
    return wantsPage(request)
      ? sendPage(reply, found.title, `<p>${escapeXml(found.description)}</p>${toTable(document)}`)
      : document;
  });
  get("/colorMaps", ["f"], (request, reply) => sendList(request, reply, "colorMaps", COLORMAP_NAMES));
  get("/colorMaps/:name", ["f", "orientation", "width", "height"], async (request, reply) => {
    const { name } = request.params as { name: string };
    if (!COLORMAP_NAMES.includes(name)) {
      throw new Problem(404, `There is no colour map "${name.slice(0, 50)}"; /colorMaps lists them.`);
    }
    const query = request.query as Query;
    const format = parseOneOf(query, "f", COLORMAP_FORMATS);
    const table = namedColorTable(name);
    if (format !== undefined && format !== "json" && format !== "html") {
      const chosen = format === "jpg" ? "jpeg" : format;
      return reply.type(`image/${chosen}`).send(await drawTable(table, query).toFormat(chosen).toBuffer());
    }
    if (wantsPage(request)) {
      const picture = (await drawTable(table, {}).png().toBuffer()).toString("base64");
      return sendPage(reply, name, `<img alt="Colours of ${escapeXml(name)}" src="data:image/png;base64,${picture}">`);
    }
    return Object.fromEntries(
      Array.from({ length: table.length / 4 }, (_, value) => [value, [...table.subarray(value * 4, value * 4 + 4)]]),
    );
  });
}

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    f: "Format: json, html; of a colour map png, jpg and webp as well.",
    orientation: "Of a picture: horizontal, or vertical, with the least value on top.",
    width: "Pixels from left to right.",
    height: "Pixels from top to bottom.",
  }),
);

const toProperties = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { description: DESCRIPTIONS.get(name) }]));

function checkNames(query: Query, names: readonly string[]): void {
  const unknown = Object.keys(query).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new Problem(400, `There is no parameter "${unknown.slice(0, 50)}" here; there are ${names.join(", ")}.`);
  }
}

const describe = ({ title, description, inputs, outputs }: Algorithm) => ({
  title,
  description,
  inputs: { nbands: inputs ?? null },
  outputs: { nbands: outputs },
  parameters: {},
});

function sendList(
  request: FastifyRequest,
  reply: FastifyReply,
  path: "algorithms" | "colorMaps",
  ids: readonly string[],
) {
  const base = `${baseUrlOf(request)}/${path}`;
  if (wantsPage(request)) {
    const items = ids.map((id) => `<li><a href="${escapeXml(`${base}/${id}?f=html`)}">${escapeXml(id)}</a></li>`);
    return sendPage(reply, path === "algorithms" ? "Algorithms" : "Colour maps", `<ul>${items.join("")}</ul>`);
  }
  return {
    [path.toLowerCase()]: ids.map((id) => ({
      id,
      title: ALGORITHMS.get(id)?.title ?? id,
      links: [{ rel: "item", type: "application/json", href: `${base}/${id}` }],
    })),
    links: [
      { rel: "self", type: "application/json", href: base },
      { rel: "alternate", type: "text/html", href: `${base}?f=html` },
    ],
  };
}

/** Whether a request prefers a page to JSON: `f`, else the first of the two that its Accept header names. @throws {Problem} 400 */
function wantsPage({ query, headers }: FastifyRequest): boolean {
  const format = parseOneOf(query as Query, "f", COLORMAP_FORMATS);
  const accepted = /text\/html|application\/json/.exec(headers.accept ?? "")?.[0];
  return format === undefined ? accepted === "text/html" : format === "html";
}

const sendPage = (reply: FastifyReply, title: string, body: string) =>
  reply
    .type("text/html; charset=utf-8")
    .header("vary", "accept")
    .send(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeXml(title)}</title></head><body><h1>${escapeXml(title)}</h1>${body}</body></html>`,
    );

const toTable = (values: object) =>
  `<dl>${Object.entries(values)
    .map(
      ([name, value]) =>
        `<dt>${escapeXml(name)}</dt><dd>${escapeXml(typeof value === "string" ? value : JSON.stringify(value))}</dd>`,
    )
    .join("")}</dl>`;

/** The colours from left to right, or from top to bottom. @throws {Problem} 400 */
function drawTable(table: Uint8Array, query: Query): Sharp {
  const isVertical = parseOneOf(query, "orientation", ["horizontal", "vertical"]) === "vertical";
  const width = parseCount(query, "width", MAX_SIDE) ?? (isVertical ? 20 : 256);
  const height = parseCount(query, "height", MAX_SIDE) ?? (isVertical ? 256 : 20);
  const length = isVertical ? height : width;
  const line = Buffer.alloc(length * 4);
  for (let at = 0; at < length; at += 1) {
    const value = Math.floor((at * 256) / length);
    line.set(table.subarray(value * 4, value * 4 + 4), at * 4);
  }
  const size = isVertical ? { width: 1, height: length } : { width: length, height: 1 };
  return sharp(line, { raw: { ...size, channels: 4 } }).resize(width, height, { kernel: "nearest", fit: "fill" });
}
