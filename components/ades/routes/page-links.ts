import type { FastifyRequest } from "fastify";

import { formOf } from "./answer.ts";
import { type Link, link } from "./context.ts";

const JSON_TYPE = "application/json";

/** The document itself and its page (OGC 18-062r2 /rec/core/process-list-links: self and alternate). */
export function formLinks(address: string, title: string): readonly Link[] {
  return [
    link(address, "self", title, JSON_TYPE),
    link(withQuery(address, { f: "html" }), "alternate", `${title}, as a page`, "text/html"),
  ];
}

type Query = Readonly<Record<string, string | number>>;

/** Links of one page of a list: itself, in its other form, and its neighbours. */
export function pageLinks(
  address: string,
  request: FastifyRequest,
  title: string,
  { next, prev }: { readonly next?: Query; readonly prev?: Query },
): readonly Link[] {
  const query = Object.fromEntries(
    Object.entries(request.query as Record<string, string | readonly string[]>).filter(([name]) => name !== "f"),
  );
  const { limit: _limit, skip: _skip, offset: _offset, cursor: _cursor, ...filters } = query;
  const [form, other] = formOf(request) === "json" ? (["json", "html"] as const) : (["html", "json"] as const);
  const to = (page: Query) => withQuery(address, { ...filters, ...page, ...(form === "html" && { f: form }) });
  const type = form === "json" ? JSON_TYPE : "text/html";
  return [
    link(withQuery(address, query), "self", title, type),
    link(withQuery(address, { ...query, f: other }), "alternate", title, other === "json" ? JSON_TYPE : "text/html"),
    ...(next ? [link(to(next), "next", "Next page", type)] : []),
    ...(prev ? [link(to(prev), "prev", "Previous page", type)] : []),
  ];
}

function withQuery(address: string, query: Readonly<Record<string, string | number | readonly string[]>>): string {
  const parameters = new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, String(value)]),
    ),
  );
  return parameters.size === 0 ? address : `${address}?${parameters.toString()}`;
}
