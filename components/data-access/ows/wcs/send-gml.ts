import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";

import type { FastifyReply, FastifyRequest } from "fastify";

import type { Field } from "../../coverages/coverage.ts";
import { CoverageError } from "../../coverages/coverage-error.ts";
import { MAX_TEXT_VALUES } from "../../coverages/routes.ts";
import { type CoveragePart, findPartScenes, openCoverage } from "../../coverages/send-coverage.ts";
import { type DataAccessContext, callerOf, signalOf } from "../../http/context.ts";
import type { LayerItem } from "../../layers/layer.ts";
import { ITEM_SEPARATOR } from "../../layers/names.ts";
import { findItems } from "../../layers/render-layer.ts";
import { GML_FORMAT } from "./capabilities.ts";
import { subtypeOf, writeDomain, writeEarthObservation, writeEnvelope, writeRangeType } from "./describe.ts";
import { NAMESPACES, element, toXmlId } from "./xml.ts";

const DATA_ID = "coverage.tif";

/** Sends a part of a coverage as GML (OGC 09-146r1): values by rows from the north, `missing` where there is none. */
export async function sendGml(
  context: DataAccessContext,
  part: CoveragePart,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { grid, fields, resampling = "nearest", coverage } = part;
  const count = grid.width * grid.height * fields.length;
  if (count > MAX_TEXT_VALUES) {
    throw new CoverageError(
      "InvalidSubsetting",
      `${count} values are more than the ${MAX_TEXT_VALUES} that are written as text; ask for a smaller area, scale it down, or ask for image/tiff.`,
    );
  }
  const signal = signalOf(reply);
  const scenes = await findPartScenes(context, part, request, signal);
  const { selection } = coverage.layer;
  const { planes } = await context.pool.pixels({ scenes, grid, expressions: fields, resampling, selection }, signal);
  const values = `<gml:DataBlock><gml:rangeParameters/><gml:doubleOrNilReasonTupleList>${writeTuples(planes)}</gml:doubleOrNilReasonTupleList></gml:DataBlock>`;
  return reply
    .type(GML_FORMAT)
    .header("cache-control", "private, no-cache")
    .send(await writeCoverage(context, part, values, request, signal));
}

/** Sends a part of a coverage as GML that refers to a GeoTIFF behind it (OGC 09-146r1, 7.3; RFC 2387). */
export async function sendMultipart(
  context: DataAccessContext,
  part: CoveragePart,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const signal = signalOf(reply);
  const boundary = randomUUID();
  const chunks = await openCoverage(context, part, request, signal);
  // Errors are told as long as nothing is sent.
  const start = await chunks.next();
  const file = `<gml:File><gml:rangeParameters xlink:href="cid:${DATA_ID}" xlink:arcrole="fileReference" xlink:role="http://www.opengis.net/spec/GMLCOV_geotiff-coverages/1.0/conf/geotiff-coverage"/><gml:fileReference>cid:${DATA_ID}</gml:fileReference><gml:fileStructure/><gml:mimeType>image/tiff</gml:mimeType></gml:File>`;
  const document = await writeCoverage(context, part, file, request, signal);
  return reply
    .type(`multipart/related; type="${GML_FORMAT}"; start="<coverage.xml>"; boundary=${boundary}`)
    .header("cache-control", "private, no-cache")
    .send(
      Readable.from(
        (async function* () {
          yield `--${boundary}\r\nContent-Type: ${GML_FORMAT}\r\nContent-ID: <coverage.xml>\r\n\r\n${document}\r\n--${boundary}\r\nContent-Type: image/tiff\r\nContent-Description: coverage data\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <${DATA_ID}>\r\n\r\n`;
          if (start.done !== true) {
            yield Buffer.from(start.value);
          }
          yield* chunks;
          yield `\r\n--${boundary}--\r\n`;
        })(),
        { objectMode: false },
      ),
    );
}

async function writeCoverage(
  context: DataAccessContext,
  { coverage, grid, fields, times }: CoveragePart,
  rangeSet: string,
  request: FastifyRequest,
  signal: AbortSignal,
): Promise<string> {
  const { layer } = coverage;
  const isScene = layer.kind === "item";
  const id = toXmlId(layer.id);
  const name = `wcseo:${subtypeOf(isScene)}`;
  const described = fields.flatMap((field): readonly Field[] => coverage.fields.filter((each) => each.name === field));
  const conditions = times === undefined ? {} : { times };
  const datasets = isScene
    ? ""
    : writeDatasets(await findItems(context, { layer, grid, caller: callerOf(request), ...conditions }, signal));
  return `<?xml version="1.0" encoding="UTF-8"?>
<${name} ${NAMESPACES} gml:id="${id}">${writeEnvelope(grid)}${writeDomain(grid, id)}<gml:rangeSet>${rangeSet}</gml:rangeSet>${writeRangeType(described)}${writeEarthObservation(layer, id)}${datasets}</${name}>`;
}

/** The scenes that a mosaic is made of. */
const writeDatasets = (items: readonly LayerItem[]): string =>
  `<wcseo:datasets>${items.map((item) => `<wcseo:dataset>${element("wcs:CoverageId", toCoverageId(item))}</wcseo:dataset>`).join("")}</wcseo:datasets>`;

const toCoverageId = ({ id, collection }: LayerItem): string =>
  collection === undefined ? id : `${collection}${ITEM_SEPARATOR}${id}`;

type Planes = Awaited<ReturnType<DataAccessContext["pool"]["pixels"]>>["planes"];

/** Tuples of the values of all bands, pixel by pixel. */
const writeTuples = (planes: Planes): string =>
  Array.from(planes[0]?.samples ?? [], (_, at) =>
    planes
      .map(({ samples, mask }) => (mask[at] === 0 || !Number.isFinite(samples[at]) ? "missing" : String(samples[at])))
      .join(" "),
  ).join(" ");
