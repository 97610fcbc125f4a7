import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";

/** PostgreSQL takes no number beyond its integers. */
const MAX_OFFSET = 2 ** 31 - 1;

/** Parameters of every list (JupyterHub's REST API, "Pagination"). A limit beyond the highest is the highest one. */
export const pageQuery = {
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OFFSET })),
  limit: Type.Optional(Type.Integer({ minimum: 0 })),
};

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** What clients accept that read `_pagination`; others get the list alone. */
const TYPE = "application/jupyterhub-pagination+json";
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

const acceptsPages = ({ headers }: FastifyRequest): boolean => headers.accept?.includes(TYPE) === true;

/** Clients that do not read how many there are get as many as there may be. */
export function readPage(request: FastifyRequest, standard = acceptsPages(request) ? DEFAULT_LIMIT : MAX_LIMIT): Page {
  const { offset = 0, limit } = request.query as { readonly offset?: number; readonly limit?: number };
  return { offset, limit: Math.min(Math.max(limit ?? standard, 1), MAX_LIMIT) };
}

interface PageOfItems {
  readonly items: readonly unknown[];
  /** How many there are on all pages. */
  readonly total: number;
  readonly page: Page;
}

/** A page for clients that read pages, and the list alone for others. */
export function sendPage(request: FastifyRequest, reply: FastifyReply, found: PageOfItems): FastifyReply {
  return acceptsPages(request)
    ? reply.type(TYPE).send(JSON.stringify(toPageModel(request, found)))
    : reply.send(found.items);
}

/** A page as lists have it that are pages always. */
export function toPageModel(request: FastifyRequest, { items, total, page: { offset, limit } }: PageOfItems): object {
  const following = offset + limit;
  const url = new URL(request.url, `${request.protocol}://${request.host}`);
  url.searchParams.set("offset", String(following));
  url.searchParams.set("limit", String(limit));
  const next = following < total ? { offset: following, limit, url: url.href } : null;
  return { items, _pagination: { offset, limit, total, next } };
}
