import { html } from "@swath/pages";
import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";

import { acceptShareCode, createShareCode, findSharedServer } from "../api/share-codes.ts";
import type { HubContext } from "../context.ts";
import { findServer } from "../store/servers.ts";
import { csrfField, readText, requireViewer, sendHubPage, serverPath } from "./parts.ts";

const MAX_CODE_CHARACTERS = 100;

/** Links that let people into a server: made by its owner, accepted by who is logged in. */
export function addShareLinkPages(app: FastifyInstance, context: HubContext): void {
  const { sql, publicUrl } = context;

  app.post("/hub/share-link", async (request, reply) => {
    const viewer = await requireViewer(context, request, reply);
    const server = viewer && (await findServer(sql, viewer.user.name, readText(request.body, "name")));
    if (viewer === undefined || server === undefined) {
      throw new Problem(404, "You have no such server.");
    }
    const days = Math.min(Math.max(Math.trunc(Number(readText(request.body, "days"))) || 1, 1), 365);
    const { code } = await createShareCode(sql, server, days * 86_400);
    return sendHubPage(context, reply, {
      title: "Link",
      breadcrumbs: [{ label: "Link", href: "/hub/home" }],
      viewer,
      content: html`<h1>A link to ${server.name === "" ? "your default server" : server.name}</h1>
        <p>
          Whoever has it and logs in may open your server, until you take that back. The link itself is good for
          ${days === 1 ? "a day" : `${days} days`}. Copy it now; it is not shown again.
        </p>
        <pre tabindex="0" aria-label="Link">${publicUrl}/hub/accept-share?code=${code}</pre>
        <p><a href="/hub/home">Your servers</a></p>`,
    });
  });

  app.get<{ Querystring: { code?: string } }>("/hub/accept-share", async (request, reply) => {
    const viewer = await requireViewer(context, request, reply);
    if (viewer === undefined) {
      return reply;
    }
    const code = String(request.query.code ?? "").slice(0, MAX_CODE_CHARACTERS);
    const server = await findSharedServer(sql, code);
    if (server === undefined) {
      throw ended();
    }
    if (server.user_name === viewer.user.name) {
      return reply.redirect(serverPath("/hub/open", server.user_name, server.name), 302);
    }
    return sendHubPage(context, reply.header("referrer-policy", "no-referrer"), {
      title: "Shared server",
      breadcrumbs: [{ label: "Shared server", href: "/hub/home" }],
      viewer,
      content: html`<h1>A server that ${server.user_name} shares</h1>
        <p>
          ${server.user_name} lets you open ${server.name === "" ? "their default server" : server.name}
          (${server.definition.definition.display_name}). What you do there is done in their name.
        </p>
        <form method="post" action="/hub/accept-share">
          ${csrfField(context, viewer)}<input type="hidden" name="code" value="${code}" />
          <button>Accept</button>
        </form>`,
    });
  });

  app.post("/hub/accept-share", async (request, reply) => {
    const viewer = await requireViewer(context, request, reply);
    if (viewer === undefined) {
      return reply;
    }
    const code = readText(request.body, "code").slice(0, MAX_CODE_CHARACTERS);
    const server = await acceptShareCode(sql, code, viewer.user.name);
    if (server === undefined) {
      throw ended();
    }
    return reply.redirect(serverPath("/hub/open", server.user_name, server.name), 303);
  });
}

const ended = (): Problem =>
  new Problem(404, "This link has ended or was taken back. Ask who gave it to you for another.", {
    title: "The link has ended",
  });
