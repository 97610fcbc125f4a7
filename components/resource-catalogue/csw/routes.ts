import type { FastifyInstance } from "fastify";

import type { CatalogueContext } from "../http/context.ts";

/** Bytes of one document: a transaction may hold thousands of records. */
const MAX_BODY_BYTES = 32 * 2 ** 20;

/** What answers is loaded by the first request: a catalogue that nobody asks by CSW does without its memory. */
const load = () => import("./respond.ts");

/** Catalogue Service for the Web 2.0.2 (OGC 07-006r1) and 3.0.0 (OGC 12-176r7): key-value pairs, XML and SOAP at one address. */
export function addCswRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  scope.removeAllContentTypeParsers();
  // Whatever clients call it, a body is a document or key-value pairs.
  scope.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: MAX_BODY_BYTES }, (_request, body, done) => {
    done(null, body);
  });
  scope.setErrorHandler(async (error, request, reply) => (await load()).respondToError(error, request, reply));
  scope.get("/csw", { schema: { hide: true } }, async (request, reply) =>
    (await load()).respondToQuery(context, request, reply),
  );
  scope.post("/csw", { schema: { hide: true }, bodyLimit: MAX_BODY_BYTES }, async (request, reply) =>
    (await load()).respondToBody(context, request, reply),
  );
}
