import { createHash } from "node:crypto";

import type { Bbox, Crs } from "@swath/raster";
import type { FastifyReply, FastifyRequest } from "fastify";

import type { Picture } from "../tiles/picture-cache.ts";
import { toNamedBounds } from "../tiler/own-pixels.ts";
import { notesOf } from "./request-notes.ts";
import { crsUri } from "../tiles/tile-matrix-sets.ts";

/** Sends an image with what browsers need to keep it, and 304 to those that have it. They ask each time: the data may change, or who may see it. */
export function sendImage(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, contentType, bbox, crs, recall }: Picture,
): FastifyReply {
  if (recall !== undefined) {
    notesOf(request.raw).recall = recall;
  }
  const etag = `"${createHash("sha1").update(bytes).digest("base64url")}"`;
  void reply
    .header("etag", etag)
    .header("cache-control", "private, no-cache")
    .header("vary", "authorization, cookie")
    .header("content-bbox", toOwnOrder(bbox, crs).join(","));
  if (crs.local === undefined) {
    void reply.header("content-crs", `<${crsUri(crs)}>`);
  }
  if (request.headers["if-none-match"]?.split(/,\s*/).includes(etag) === true) {
    return reply.code(304).send();
  }
  return reply.type(contentType).send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

function toOwnOrder(bbox: Bbox, crs: Crs): Bbox {
  return crs.local !== undefined
    ? toNamedBounds(bbox, crs)
    : crs.isNorthFirst
      ? [bbox[1], bbox[0], bbox[3], bbox[2]]
      : bbox;
}
