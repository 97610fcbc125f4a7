import { createJsonBodyParser } from "@swath/service/fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** Types that clients of the login service send JSON under. */
const TYPES = ["application/json", "application/scim+json"];

/** Takes JSON with a comma behind the last item, as scripts of the earlier release line write it by joining lines. */
export function acceptLenientJson(scope: FastifyInstance): void {
  const parse = createJsonBodyParser();
  scope.removeContentTypeParser(TYPES);
  for (const type of TYPES) {
    scope.addContentTypeParser(type, { parseAs: "buffer" }, (request: FastifyRequest, body: Buffer) =>
      parse(request, dropTrailingCommas(body.toString("utf8"))),
    );
  }
}

/** The text without commas that come before a closing bracket, outside of strings. Takes time in proportion to its length. */
export function dropTrailingCommas(text: string): string {
  // A string, which may lack its end so that no text is read twice, or a comma before a closing bracket.
  return text.replaceAll(/"(?:[^"\\]|\\[^])*\\?(?:"|$)|,(?=[ \t\r\n]{0,64}[\]}])/g, (found) =>
    found === "," ? "" : found,
  );
}
