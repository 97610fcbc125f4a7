import type { SourceLocation } from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyRequest } from "fastify";

import type { DataAccessContext } from "../http/context.ts";
import { locatePublic } from "../layers/locate-asset.ts";
import { type Query, one } from "./parameters.ts";

/**
 * Where the file at `url` is: in the platform's object storage with the caller's rights, or where anybody may read.
 * @throws {Problem} 400, 401, 403, 503
 */
export async function locateFile(
  { query, headers }: Pick<FastifyRequest, "query" | "headers">,
  { storage, privateHosts, allowPublicUrls }: Pick<DataAccessContext, "storage" | "privateHosts" | "allowPublicUrls">,
): Promise<SourceLocation> {
  const url = one((query as Query)["url"]);
  if (url === undefined) {
    throw new Problem(400, "url is missing: the address of the file.");
  }
  const own = await storage?.locate(url, headers.authorization);
  if (own !== undefined) {
    return own;
  }
  if (locatePublic(url, privateHosts) === undefined) {
    throw new Problem(
      400,
      storage === undefined
        ? "url must be an http or https address."
        : "url must be an http or https address, or s3://<bucket>/<key> of the platform's object storage.",
    );
  }
  const location = locatePublic(url, privateHosts, allowPublicUrls);
  if (location === undefined) {
    throw new Problem(403, "Files of this host are not read here; the operator allows hosts.");
  }
  return location;
}
