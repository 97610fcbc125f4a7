import { type Html, html } from "@swath/pages";
import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { HubContext } from "../context.ts";
import { type ProfileMistake, ProfileFileError, parseProfiles } from "../profiles/parse.ts";
import type { UsageSample } from "../servers/watch.ts";
import { findServerById, listActive } from "../store/servers.ts";
import { type Viewer, csrfField, listMessages, readText, requireViewer, sendHubPage } from "./parts.ts";

const MAX_MESSAGE_CHARACTERS = 500;

/** Who runs what, messages to all, and the profiles. */
export function addAdminPages(app: FastifyInstance, context: HubContext): void {
  const { sql, lifecycle, profiles } = context;
  const requireAdmin = async (request: FastifyRequest, reply: FastifyReply): Promise<Viewer | undefined> => {
    const viewer = await requireViewer(context, request, reply);
    if (viewer !== undefined && !viewer.user.admin) {
      throw new Problem(403, `This page is for administrators; you are ${viewer.user.name}.`);
    }
    return viewer;
  };

  app.get("/hub/admin", async (request, reply) => {
    const viewer = await requireAdmin(request, reply);
    if (viewer === undefined) {
      return reply;
    }
    const servers = await listActive(sql);
    const messages = await listMessages(sql);
    return sendHubPage(context, reply, {
      title: "Administration",
      breadcrumbs: [{ label: "Administration", href: "/hub/admin" }],
      viewer,
      content: html`<h1>Administration</h1>
        <section class="panel">
          <h2>Servers that run</h2>
          <p><a href="/hub/admin">Refresh</a></p>
          ${
            servers.length === 0
              ? html`<p>None.</p>`
              : html`<div class="scroll" tabindex="0" role="region" aria-label="Servers that run">
                  <table>
                    <thead>
                      <tr>
                        <th>User</th>
                        <th>Server</th>
                        <th>Profile</th>
                        <th>State</th>
                        <th>Since</th>
                        <th>CPU</th>
                        <th>Memory</th>
                        <th>Action</th>
                      </tr>
                    </thead>
                    <tbody>
                      ${servers.map((server) => {
                        const samples = context.samples.of(server.id);
                        return html`<tr>
                          <td>${server.user_name}</td>
                          <td>${server.name === "" ? "default" : server.name}</td>
                          <td>${server.definition.definition.display_name}</td>
                          <td>
                            <span class="badge ${server.state === "ready" ? "good" : "busy"}">${server.state}</span>
                          </td>
                          <td><time>${server.started?.toISOString().slice(0, 16).replace("T", " ") ?? ""}</time></td>
                          <td>
                            ${renderLine(samples, ({ cores }) => cores, Math.max(server.cores, 0.1), `${(samples.at(-1)?.cores ?? 0).toFixed(2)} of ${server.cores} cores`)}
                          </td>
                          <td>
                            ${renderLine(samples, ({ memoryBytes }) => memoryBytes, Math.max(Number(server.memory_bytes), 1), `${toMiB(samples.at(-1)?.memoryBytes ?? 0)} of ${toMiB(Number(server.memory_bytes))} MiB`)}
                          </td>
                          <td>
                            <form method="post" action="/hub/admin/stop">
                              ${csrfField(context, viewer)}<input type="hidden" name="id" value="${server.id}" />
                              <button class="quiet" aria-label="Stop ${server.user_name} ${server.name}">Stop</button>
                            </form>
                          </td>
                        </tr>`;
                      })}
                    </tbody>
                  </table>
                </div>`
          }
        </section>
        <section class="panel">
          <h2>Message to all</h2>
          ${messages.map(
            ({ id, text, author }) =>
              html`<form method="post" action="/hub/admin/message" class="row">
                ${csrfField(context, viewer)}<input type="hidden" name="remove" value="${id}" />
                <span>${text} <span class="hint">${author}</span></span
                ><button class="quiet">Remove</button>
              </form>`,
          )}
          <form method="post" action="/hub/admin/message" class="inline">
            ${csrfField(context, viewer)}
            <div>
              <label for="text">Text</label
              ><input id="text" name="text" required maxlength="${MAX_MESSAGE_CHARACTERS}" />
            </div>
            <div>
              <label for="hours">Hours</label
              ><input id="hours" name="hours" type="number" min="1" max="720" value="24" />
            </div>
            <button>Show</button>
          </form>
        </section>
        <p><a href="/hub/admin/profiles">Profiles</a></p>`,
    });
  });

  app.post("/hub/admin/stop", async (request, reply) => {
    await requireAdmin(request, reply);
    const id = readText(request.body, "id");
    const server = /^[\da-f-]{36}$/.test(id) ? await findServerById(sql, id) : undefined;
    if (server !== undefined) {
      await lifecycle.stop(server, "An administrator stopped it.");
    }
    return reply.redirect("/hub/admin", 303);
  });

  app.post("/hub/admin/message", async (request, reply) => {
    const viewer = await requireAdmin(request, reply);
    const removed = readText(request.body, "remove");
    const text = readText(request.body, "text").trim().slice(0, MAX_MESSAGE_CHARACTERS);
    if (/^\d{1,18}$/.test(removed)) {
      await sql.rows("delete from messages where id = $1", [removed]);
    } else if (text !== "") {
      const hours = Math.min(Math.max(Math.trunc(Number(readText(request.body, "hours"))) || 24, 1), 720);
      await sql.rows(
        "insert into messages (text, author, expires) values ($1, $2, now() + make_interval(hours => $3))",
        [text, viewer?.user.name ?? "", hours],
      );
    }
    return reply.redirect("/hub/admin", 303);
  });

  const sendProfiles = async (
    viewer: Viewer,
    reply: FastifyReply,
    text: string,
    mistakes?: readonly ProfileMistake[],
    said?: Html,
  ) =>
    sendHubPage(context, reply, {
      title: "Profiles",
      breadcrumbs: [
        { label: "Administration", href: "/hub/admin" },
        { label: "Profiles", href: "/hub/admin/profiles" },
      ],
      viewer,
      content: html`<h1>Profiles</h1>
        <p>
          In the known form of <code>config.yml</code>; <code>embedded</code> says what runs where the platform is one
          machine.
        </p>
        ${said}
        ${
          mistakes !== undefined &&
          mistakes.length > 0 &&
          html`<div role="alert">
            <p>Nothing was changed:</p>
            <ul>
              ${mistakes.map(({ line, field, message }) => html`<li>line ${line}, <code>${field}</code>: ${message}</li>`)}
            </ul>
          </div>`
        }
        <form method="post" action="/hub/admin/profiles">
          ${csrfField(context, viewer)}
          <label for="profiles">Profiles</label>
          <textarea id="profiles" name="text" rows="28" spellcheck="false">${text}</textarea>
          <div class="actions">
            <button name="do" value="check" class="quiet">Check</button><button name="do" value="save">Save</button
            ><button name="do" value="reset" class="quiet">Back to those that the hub brings</button>
          </div>
        </form>`,
    });

  app.get("/hub/admin/profiles", async (request, reply) => {
    const viewer = await requireAdmin(request, reply);
    return viewer === undefined ? reply : sendProfiles(viewer, reply, (await profiles.text()).text);
  });

  app.post("/hub/admin/profiles", async (request, reply) => {
    const viewer = await requireAdmin(request, reply);
    if (viewer === undefined) {
      return reply;
    }
    const text = readText(request.body, "text").replaceAll("\r\n", "\n");
    const action = readText(request.body, "do");
    try {
      if (action === "reset") {
        await profiles.reset();
        return await reply.redirect("/hub/admin/profiles", 303);
      }
      const parsed = parseProfiles(text);
      if (action === "save") {
        await profiles.save(text, viewer.user.name);
      }
      const lines: Html[] = [];
      for (const profile of parsed) {
        const why = await lifecycle.spawnerOf(profile).whyNot(profile);
        lines.push(
          html`<li>
            ${profile.definition.display_name}:
            ${why === undefined ? "can run here" : `not here, ${why.reason}`}${why?.command !== undefined && html` (<code>${why.command}</code>)`}
          </li>`,
        );
      }
      const said = html`<div class="panel">
        <p role="status">${action === "save" ? "Saved." : "No mistakes."}</p>
        <ul>
          ${lines}
        </ul>
      </div>`;
      return await sendProfiles(viewer, reply, text, undefined, said);
    } catch (error) {
      if (error instanceof ProfileFileError) {
        return sendProfiles(viewer, reply.code(422), text, error.mistakes);
      }
      throw error;
    }
  });
}

const toMiB = (bytes: number): number => Math.round(bytes / 2 ** 20);

/** A line of what was used, below what may be. */
function renderLine(
  samples: readonly UsageSample[],
  read: (sample: UsageSample) => number,
  limit: number,
  label: string,
): Html {
  const last = samples.slice(-60);
  const points = last
    .map(
      (sample, index) =>
        `${((index / Math.max(last.length - 1, 1)) * 100).toFixed(1)},${(30 - Math.min(read(sample) / limit, 1) * 28).toFixed(1)}`,
    )
    .join(" ");
  return html`<svg class="spark" viewBox="0 0 100 32" preserveAspectRatio="none" role="img" aria-label="${label}">
      <polyline points="${points}" />
    </svg>
    <span class="hint">${label}</span>`;
}
