import type { FastifyInstance } from "fastify";

import type { DataAccessContext } from "../http/context.ts";
import { Kvp } from "./kvp.ts";
import { OwsError } from "./ows-error.ts";
import { handleWcs } from "./wcs/handle.ts";
import { parsePost } from "./wcs/parse-post.ts";
import { handleWms } from "./wms/handle.ts";
import { withExceptionReports, handleWmts, sendTile, sendWmtsCapabilities } from "./wmts/handle.ts";

const MAX_XML_BYTES = 100_000;
/** Earlier versions of the platform had the cache of tiles at a path of its own. */
const PATHS = ["/ows", "/cache/ows"];

/** OGC web services with parameters, all at one address, and the paths of WMTS. */
export function addOwsRoutes(app: FastifyInstance, context: DataAccessContext): void {
  for (const path of PATHS) {
    app.get(path, { schema: { tags: ["ows"] } as object }, async (request, reply) => {
      const kvp = new Kvp(request.query as Readonly<Record<string, unknown>>);
      const service = (kvp.get("SERVICE") ?? guessService(kvp)).toUpperCase();
      if (service === "WMS") {
        return handleWms(context, kvp, request, reply, path);
      }
      if (service === "WCS") {
        return handleWcs(context, () => kvp, request, reply, path);
      }
      if (service === "WMTS") {
        return handleWmts(context, kvp, request, reply, path);
      }
      return withExceptionReports(reply, 400, async () => {
        throw service === ""
          ? new OwsError("MissingParameterValue", "The parameter SERVICE is missing: WMS, WMTS or WCS.", {
              locator: "SERVICE",
            })
          : new OwsError("InvalidParameterValue", "SERVICE must be WMS, WMTS or WCS.", { locator: "SERVICE" });
      });
    });
  }
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "string", bodyLimit: MAX_XML_BYTES }, (_request, body, done) =>
      done(null, body),
    );
    for (const path of PATHS) {
      scope.post(path, { schema: { tags: ["ows"] } as object }, (request, reply) => {
        const parse = () => parsePost(typeof request.body === "string" ? request.body : "");
        return handleWcs(context, parse, request, reply, path);
      });
    }
  });
  app.get("/wmts/1.0.0/WMTSCapabilities.xml", { schema: { tags: ["ows"] } as object }, async (request, reply) => {
    const { accept } = request.headers;
    if (accept !== undefined && !/\*\/\*|text\/\*|application\/\*|xml/i.test(accept)) {
      return reply.code(406).type("text/plain; charset=utf-8").send("The capabilities are text/xml.\n");
    }
    return sendWmtsCapabilities(context, request, reply, "/ows");
  });
  for (const path of [
    "/wmts/1.0.0/:layer/:style/:set/:level/:row/:column.:format",
    "/wmts/1.0.0/:layer/:style/:time/:set/:level/:row/:column.:format",
  ]) {
    app.get(path, { schema: { tags: ["ows"] } as object }, (request, reply) => {
      const params = request.params as Record<
        "layer" | "style" | "set" | "level" | "row" | "column" | "format",
        string
      > & { time?: string };
      return withExceptionReports(reply, 404, () =>
        sendTile(
          context,
          {
            ...params,
            time: params.time,
            dimensions: new Kvp(request.query as Readonly<Record<string, unknown>>),
          },
          request,
          reply,
        ),
      );
    });
  }
}

/** SERVICE is optional in requests of WMS other than GetCapabilities. */
function guessService(kvp: Kvp): string {
  const operation = kvp.get("REQUEST") ?? "";
  return /^(GetMap|map|GetFeatureInfo|GetLegendGraphic)$/i.test(operation)
    ? "WMS"
    : /^(DescribeCoverage|GetCoverage|DescribeEOCoverageSet|GetEOCoverageSet)$/i.test(operation)
      ? "WCS"
      : "";
}
