import type { RasterPool } from "@swath/raster";
import type { BaseMap } from "@swath/service/base-maps";
import type { FastifyReply, FastifyRequest } from "fastify";

import { Basis } from "../layers/basis.ts";
import type { Caller, LayerSource } from "../layers/layer.ts";
import type { OwnStorage } from "../storage/own-storage.ts";
import type { Pictures } from "../tiles/picture-cache.ts";
import { notesOf } from "./request-notes.ts";
import type { ResponseCache } from "./response-cache.ts";

export interface DataAccessContext {
  readonly pool: RasterPool;
  /** Pictures of the pool, or those of before. */
  readonly pictures: Pictures;
  readonly responses: ResponseCache;
  readonly layers: LayerSource;
  /** Objects of the platform's storage that callers name; left out where it has none. */
  readonly storage?: OwnStorage;
  /** Hosts of private networks whose files anybody may name. */
  readonly privateHosts: readonly string[];
  /** Files of public addresses may be named by anybody. */
  readonly allowPublicUrls: boolean;
  readonly title: string;
  /** What the viewer offers below its layers. */
  readonly baseMaps: readonly BaseMap[];
  /** Public address of the catalogue, where there is one. */
  readonly catalogueUrl: string | undefined;
}

/** Who asks. What is used for a request without a login is noted in its basis. */
export function callerOf({ raw, headers, hostname }: FastifyRequest): Caller {
  const { authorization } = headers;
  if (authorization !== undefined) {
    return { authorization, hostname };
  }
  return { authorization, hostname, basis: (notesOf(raw).basis ??= new Basis()) };
}

/** `https://data-access.example.org`, as the client sees it. */
export function baseUrlOf(request: FastifyRequest): string {
  return `${request.protocol}://${request.host}`;
}

/** Aborted once the client has gone: what nobody waits for is not calculated. */
export function signalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) {
      controller.abort();
    }
  });
  return controller.signal;
}
