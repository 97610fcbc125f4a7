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
export function readPage(request: FastifyRequest): Page {
  const { offset = 0, limit } = request.query as { readonly offset?: number; readonly limit?: number };
  const standard = acceptsPages(request) ? DEFAULT_LIMIT : MAX_LIMIT;
  return { offset, limit: Math.min(Math.max(limit ?? standard, 1), MAX_LIMIT) };
}

/** @param total how many there are on all pages */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    items,
    total,
    page: { offset, limit },
  }: { readonly items: readonly unknown[]; readonly total: number; readonly page: Page },
): FastifyReply {
  if (!acceptsPages(request)) {
    return reply.send(items);
  }
  const following = offset + limit;
  const url = new URL(request.url, `${request.protocol}://${request.host}`);
  url.searchParams.set("offset", String(following));
  url.searchParams.set("limit", String(limit));
  const next = following < total ? { offset: following, limit, url: url.href } : null;
  return reply.type(TYPE).send(JSON.stringify({ items, _pagination: { offset, limit, total, next } }));
}
