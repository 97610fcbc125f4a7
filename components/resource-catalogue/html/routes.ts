import { PAGE_SECURITY, STYLE, renderPage } from "@swath/pages";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { negotiate, wantsPage } from "./negotiate.ts";
import { toPage } from "./to-page.ts";

const HTML_TYPE = "text/html; charset=utf-8";
const MAX_JSON_LENGTH = 8 * 2 ** 20;

/**
 * Every resource of a scope is a page for people, too, by `f=html` and for browsers: made of the JSON that the route sends, so that both
 * say the same and whoever may not see a record sees none of it. Call it before the scope's routes.
 */
export function addPages(scope: FastifyInstance): void {
  scope.addHook("preValidation", (request, _reply, done) => {
    if (request.method === "GET" || request.method === "HEAD") {
      negotiate(request);
    }
    done();
  });
  scope.addHook("onSend", (request, reply, payload, done) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      done(null, payload);
      return;
    }
    void reply.header("vary", "accept");
    const isJson = /^application\/(?:[\w.-]+\+)?json/.test(String(reply.getHeader("content-type") ?? ""));
    if (!wantsPage(request) || !isJson || typeof payload !== "string" || payload.length > MAX_JSON_LENGTH) {
      done(null, payload);
      return;
    }
    done(null, sendPage(request, reply, payload));
  });
}

/** The style sheet of the pages. */
export function addPageFiles(app: FastifyInstance): void {
  app.get("/style.css", { schema: { hide: true } }, (_request, reply) =>
    reply.type("text/css; charset=utf-8").header("cache-control", "public, max-age=300").send(STYLE),
  );
}

function sendPage(request: FastifyRequest, reply: FastifyReply, payload: string): string {
  // An ETag is of the JSON.
  void reply
    .removeHeader("etag")
    .removeHeader("content-length")
    .headers({ ...PAGE_SECURITY, "cache-control": "no-cache" })
    .type(HTML_TYPE);
  const { title, content, breadcrumbs } = toPage(JSON.parse(payload), { path: request.url, status: reply.statusCode });
  return renderPage({
    title,
    content,
    style: "/style.css",
    breadcrumbs,
    service: "Resource catalogue",
    forms:
      reply.statusCode === 200
        ? [{ label: "JSON", href: withForm(request.url, "json"), type: "application/json" }]
        : [],
  });
}

export function withForm(url: string, form: string): string {
  const [path = "/", query = ""] = url.split("?");
  const parameters = new URLSearchParams(query);
  parameters.set("f", form);
  return `${path}?${parameters.toString()}`;
}
