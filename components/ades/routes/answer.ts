import { PAGE_SECURITY } from "@swath/pages";
import type { FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";

import { invalidQuery } from "../errors.ts";

const JSON_TYPE = "application/json";
const HTML_TYPE = "text/html";

/** Which form of an answer is wanted: by `f=`, else by `Accept`, JSON where it does not matter. @throws {OgcError} 400 */
export function formOf(request: FastifyRequest): "json" | "html" {
  const { f } = request.query as { f?: string };
  if (f === undefined) {
    return new Negotiator(request).mediaType([JSON_TYPE, HTML_TYPE]) === HTML_TYPE ? "html" : "json";
  }
  const form = f.toLowerCase().replace("application/", "").replace("text/", "");
  if (form !== "json" && form !== "html") {
    throw invalidQuery("f", f, "json, html");
  }
  return form;
}

/** The address of the same thing in another form. */
export function inForm(url: string, form: string): string {
  const [path = "", query] = url.split("?", 2);
  const parameters = new URLSearchParams(query);
  parameters.set("f", form);
  return `${path}?${parameters.toString()}`;
}

/** Sends what a request asked for: the document itself, or the page that shows it. */
export function answer<Body extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  body: Body,
  toPage: (body: Body, url: string) => string,
): FastifyReply {
  void reply.header("vary", "Accept, Origin");
  if (formOf(request) === "json") {
    return reply.type(JSON_TYPE).send(body);
  }
  return reply
    .headers({ ...PAGE_SECURITY, "cache-control": "no-cache" })
    .type("text/html; charset=utf-8")
    .send(toPage(body, request.url));
}
