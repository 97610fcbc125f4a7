import { type Html, html } from "@swath/pages";
import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";

import { saveShare } from "../api/shares.ts";
import type { HubContext } from "../context.ts";
import { createSecret } from "../store/database.ts";
import { type ServerRow, findServer, listServers } from "../store/servers.ts";
import { type Viewer, csrfField, readText, requireViewer, sendHubPage, serverPath } from "./parts.ts";

interface ShareRow {
  readonly id: string;
  readonly server_id: string;
  readonly to_user: string | null;
  readonly to_group: string | null;
  readonly expires: Date | null;
}

/** Own servers, and those that others share. */
export function addHomePages(app: FastifyInstance, context: HubContext): void {
  const { sql, lifecycle } = context;
  app.get("/", (_request, reply) => reply.redirect("/hub/", 302));
  // People land on the form, as with the known product.
  app.get("/hub", (_request, reply) => reply.redirect("/hub/spawn", 302));
  app.get("/hub/", (_request, reply) => reply.redirect("/hub/spawn", 302));

  app.get("/hub/home", async (request, reply) => {
    const viewer = await requireViewer(context, request, reply);
    if (viewer === undefined) {
      return reply;
    }
    const servers = await listServers(sql, viewer.user.name);
    const shares = await sql.rows<ShareRow>(
      "select * from shares where server_id = any($1) and (expires is null or expires > now()) order by id",
      [servers.map(({ id }) => id)],
    );
    const shared = await sql.rows<ServerRow>(
      `select distinct servers.* from servers join shares on shares.server_id = servers.id
       where servers.state = 'ready' and (shares.expires is null or shares.expires > now())
         and (to_user = $1 or to_group = any($2)) and servers.user_name <> $1 order by user_name, name`,
      [viewer.user.name, viewer.user.groups],
    );
    return sendHubPage(context, reply, {
      title: "Servers",
      breadcrumbs: [{ label: "Servers", href: "/hub/home" }],
      viewer,
      content: html`<h1>Servers</h1>
        ${servers.length === 0 && html`<p>You have none yet.</p>`}
        <ul class="tiles">
          ${servers.map((server) => renderServer(context, viewer, server, shares))}
        </ul>
        <p><a class="button" href="/hub/spawn">Start a server</a></p>
        ${
          shared.length > 0 &&
          html`<h2>Shared with you</h2>
            <ul class="links">
              ${shared.map(
                ({ user_name: user, name }) =>
                  html`<li>
                    <a href="${serverPath("/hub/open", user, name)}">${user}${name === "" ? "" : ` / ${name}`}</a>
                  </li>`,
              )}
            </ul>`
        }`,
    });
  });

  app.post("/hub/stop", async (request, reply) => {
    const viewer = await requireViewer(context, request, reply);
    const server = viewer && (await findServer(sql, viewer.user.name, readText(request.body, "name")));
    if (server !== undefined) {
      await lifecycle.stop(server, "You stopped it.");
      if (readText(request.body, "remove") !== "" && server.name !== "") {
        await sql.rows("delete from servers where id = $1", [server.id]);
      }
    }
    return reply.redirect("/hub/home", 303);
  });

  app.post("/hub/share", async (request, reply) => {
    const viewer = await requireViewer(context, request, reply);
    const server = viewer && (await findServer(sql, viewer.user.name, readText(request.body, "name")));
    if (server === undefined) {
      throw new Problem(404, "You have no such server.");
    }
    const revoked = readText(request.body, "revoke");
    if (revoked !== "") {
      await sql.rows("delete from shares where server_id = $1 and id = $2", [
        server.id,
        /^\d{1,18}$/.test(revoked) ? revoked : 0,
      ]);
      return reply.redirect("/hub/home", 303);
    }
    const whom = readText(request.body, "whom").trim();
    const days = Number(readText(request.body, "days"));
    const isGroup = readText(request.body, "kind") === "group";
    await saveShare(sql, server, {
      ...(isGroup ? { group: whom } : { user: whom }),
      ...(Number.isInteger(days) && days > 0 && { expires_in: days * 86_400 }),
    });
    return reply.redirect("/hub/home", 303);
  });

  app.get("/hub/token", async (request, reply) => {
    const viewer = await requireViewer(context, request, reply);
    return viewer === undefined ? reply : sendTokenPage(context, viewer, reply);
  });
  app.post("/hub/token", async (request, reply) => {
    const viewer = await requireViewer(context, request, reply);
    if (viewer === undefined) {
      return reply;
    }
    const { secret, hash } = createSecret();
    await sql.rows(
      "insert into tokens (hash, user_name, kind, scopes, note, expires) values ($1, $2, 'api', '{inherit}', $3, now() + interval '30 days')",
      [hash, viewer.user.name, readText(request.body, "note").slice(0, 200)],
    );
    return sendTokenPage(context, viewer, reply, secret);
  });
}

function sendTokenPage(context: HubContext, viewer: Viewer, reply: Parameters<typeof sendHubPage>[1], secret?: string) {
  return sendHubPage(context, reply, {
    title: "Tokens",
    breadcrumbs: [{ label: "Tokens", href: "/hub/token" }],
    viewer,
    content: html`<h1>Tokens</h1>
      <p>A token lets programs use the hub's API in your name for 30 days: <code>Authorization: token …</code></p>
      ${
        secret !== undefined &&
        html`<div class="panel">
          <p>Copy it now; it is not shown again.</p>
          <pre>${secret}</pre>
        </div>`
      }
      <form method="post" action="/hub/token" class="inline">
        ${csrfField(context, viewer)}
        <div><label for="note">What it is for</label><input id="note" name="note" maxlength="200" /></div>
        <button>Create token</button>
      </form>`,
  });
}

function renderServer(context: HubContext, viewer: Viewer, server: ServerRow, shares: readonly ShareRow[]): Html {
  const { user_name: user, name, state, definition, end_reason: reason, workspace_trouble: trouble } = server;
  const title = name === "" ? "Default server" : name;
  const id = `share-${server.id.slice(0, 8)}`;
  const own = shares.filter(({ server_id: shared }) => shared === server.id);
  return html`<li>
    <h2>${title}</h2>
    <p>
      ${definition.definition.display_name}
      <span class="badge ${state === "ready" ? "good" : state === "stopped" ? "" : "busy"}">${state}</span>
    </p>
    ${state === "stopped" && reason !== null && html`<p class="hint">${reason}</p>`}
    ${
      state === "ready" &&
      trouble !== null &&
      html`<p role="alert">Its workspace files and the bucket are not the same now: ${trouble}</p>`
    }
    <div class="actions">
      ${
        state === "ready"
          ? html`<a class="button" href="${serverPath("/hub/open", user, name)}" aria-label="Open ${title}">Open</a>`
          : state === "starting"
            ? html`<a href="${serverPath("/hub/spawn-pending", user, name)}">Follow the start</a>`
            : html`<a href="${serverPath("/hub/spawn", user, name)}">Start again</a>`
      }
      ${
        (state === "ready" || state === "starting") &&
        html`<form method="post" action="/hub/stop">
          ${csrfField(context, viewer)}<input type="hidden" name="name" value="${name}" />
          <button class="quiet" aria-label="Stop ${title}">Stop</button>
        </form>`
      }
      ${
        state === "stopped" &&
        name !== "" &&
        html`<form method="post" action="/hub/stop">
          ${csrfField(context, viewer)}<input type="hidden" name="name" value="${name}" /><input
            type="hidden"
            name="remove"
            value="1"
          />
          <button class="quiet" aria-label="Remove ${title}">Remove</button>
        </form>`
      }
    </div>
    ${
      state === "ready" &&
      definition.embedded?.kind !== "browser" &&
      html`<details>
        <summary>Share</summary>
        ${own.map(
          ({ id: share, to_user: toUser, to_group: toGroup, expires }) =>
            html`<form method="post" action="/hub/share" class="row">
              ${csrfField(context, viewer)}<input type="hidden" name="name" value="${name}" /><input
                type="hidden"
                name="revoke"
                value="${share}"
              />
              <span
                >${toUser ?? `group ${toGroup ?? ""}`}${expires !== null && html` until <time>${expires.toISOString().slice(0, 10)}</time>`}</span
              >
              <button class="quiet">Take back</button>
            </form>`,
        )}
        <form method="post" action="/hub/share">
          ${csrfField(context, viewer)}<input type="hidden" name="name" value="${name}" />
          <label for="${id}-kind">With a</label>
          <select id="${id}-kind" name="kind">
            <option value="user">user</option>
            <option value="group">group</option>
          </select>
          <label for="${id}-whom">Name</label><input id="${id}-whom" name="whom" required maxlength="255" />
          <label for="${id}-days">Days</label
          ><input id="${id}-days" name="days" type="number" min="1" max="365" value="7" />
          <button>Share</button>
        </form>
        <form method="post" action="/hub/share-link">
          ${csrfField(context, viewer)}<input type="hidden" name="name" value="${name}" />
          <label for="${id}-link">Days that the link is good for</label
          ><input id="${id}-link" name="days" type="number" min="1" max="365" value="1" />
          <button class="quiet">Make a link</button>
        </form>
      </details>`
    }
  </li>`;
}
