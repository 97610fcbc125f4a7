import type { FastifyRequest } from "fastify";

/** Records of a page for people at most. */
const MAX_PAGE = 100;

/** Requests that pages were asked for. */
const pages = new WeakSet<FastifyRequest>();

/**
 * Reads `f` and Accept (RFC 9110 §12.5.1) of a GET request: `f=html`, or a browser. `f` is taken out of the parameters, as routes
 * refuse those that they do not know.
 */
export function negotiate(request: FastifyRequest): void {
  const query = request.query as Record<string, unknown>;
  const { f } = query;
  if (f === "html" || (f === undefined && prefersHtml(request.headers.accept ?? ""))) {
    pages.add(request);
    const limit = Number(query["limit"]);
    if (limit > MAX_PAGE) {
      query["limit"] = String(MAX_PAGE);
    }
  }
  if (f === "html" || f === "json") {
    delete query["f"];
  }
}

export const wantsPage = (request: FastifyRequest): boolean => pages.has(request);

/** Whether HTML has more weight than JSON. Clients that take anything get JSON. */
export function prefersHtml(accept: string): boolean {
  const weights = accept.split(",").map((part) => {
    const [type = "", ...parameters] = part.trim().split(";");
    const q = /^\s*q=([0-9.]+)/.exec(parameters.find((parameter) => /^\s*q=/.test(parameter)) ?? "")?.[1];
    return { type: type.trim().toLowerCase(), q: q === undefined ? 1 : Number(q) };
  });
  const weightOf = (pattern: RegExp): number =>
    Math.max(0, ...weights.filter(({ type }) => pattern.test(type)).map(({ q }) => q));
  return weightOf(/^(?:text\/html|application\/xhtml\+xml)$/) > weightOf(/^application\/(?:[\w.-]+\+)?json$/);
}
