import { type Html, html, PAGE_SECURITY, renderPage } from "@swath/pages";
import { Problem } from "@swath/service";
import type { FastifyReply, FastifyRequest } from "fastify";

import type { Caller } from "../api/caller.ts";
import type { HubContext } from "../context.ts";
import type { Login } from "../session/logins.ts";
import type { Sql } from "../store/database.ts";
import type { UserRow } from "../store/users.ts";

/** Somebody who looks at a page. */
export interface Viewer extends Caller {
  readonly user: UserRow;
  readonly login: Login;
}

/** As pages of the platform, with scripts and requests of the hub's own. */
const securityOf = (context: HubContext): Readonly<Record<string, string>> => ({
  ...PAGE_SECURITY,
  // A form that starts a server ends at the server's origin.
  "content-security-policy": `default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self' ${context.originOf("*")}; base-uri 'none'; frame-ancestors 'none'`,
  "cache-control": "no-store",
});

/** Who looks at a page; sends them to log in where nobody does. Undefined where the answer is sent already. */
export async function requireViewer(
  { callers }: HubContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Viewer | undefined> {
  const caller = await callers.find(request);
  if (caller?.user !== undefined && caller.login !== undefined) {
    return caller as Viewer;
  }
  if (request.method !== "GET") {
    throw new Problem(403, "You are not logged in any more. Load the page again.");
  }
  await reply.redirect(`/hub/login?next=${encodeURIComponent(request.url)}`, 302);
  return undefined;
}

interface HubPage {
  readonly title: string;
  readonly content: Html;
  readonly breadcrumbs: readonly { readonly label: string; readonly href: string }[];
  readonly viewer?: Viewer | undefined;
  readonly script?: string;
}

export async function sendHubPage(context: HubContext, reply: FastifyReply, page: HubPage): Promise<FastifyReply> {
  const { viewer, title, content, breadcrumbs, script } = page;
  const messages = viewer === undefined ? [] : await listMessages(context.sql);
  return reply
    .headers(securityOf(context))
    .type("text/html; charset=utf-8")
    .send(
      renderPage({
        title,
        style: "/hub/static/style.css",
        service: "hub",
        breadcrumbs: [{ label: "Application hub", href: "/hub/home" }, ...breadcrumbs],
        content: html`${viewer && menu(viewer)}
        ${messages.map(({ text }) => html`<p class="panel note" role="status">${text}</p>`)} ${content}
        ${script !== undefined && html`<script src="${script}" defer></script>`}`,
      }),
    );
}

function menu({ user }: Viewer): Html {
  return html`<nav class="menu" aria-label="Hub">
    <a href="/hub/home">Servers</a>
    <a href="/hub/spawn">Start</a>
    <a href="/hub/token">Tokens</a>
    ${user.admin && html`<a href="/hub/admin">Administration</a>`}
    <span class="hint">${user.name}</span>
    <a href="/hub/logout">Log out</a>
  </nav>`;
}

export const listMessages = (
  sql: Sql,
): Promise<readonly { readonly id: string; readonly text: string; readonly author: string }[]> =>
  sql.rows("select id, text, author from messages where expires > now() order by id desc limit 5");

/** The hidden field of every form. */
export const csrfField = ({ callers }: HubContext, { login }: Viewer): Html =>
  html`<input type="hidden" name="_xsrf" value="${callers.csrfOf(login)}" />`;

export const serverPath = (prefix: string, user: string, name: string): string =>
  `${prefix}/${encodeURIComponent(user)}${name === "" ? "" : `/${encodeURIComponent(name)}`}`;

export const readText = (body: unknown, name: string): string => {
  const value = (body as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return typeof value === "string" ? value : "";
};
