import { type Html, html } from "@swath/pages";
import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";

import { toOptions } from "../api/servers.ts";
import type { HubContext } from "../context.ts";
import type { Profile } from "../profiles/model.ts";
import { sizeOf } from "../profiles/quantities.ts";
import type { Unavailable } from "../spawners/spawner.ts";
import { findServer } from "../store/servers.ts";
import { type Viewer, csrfField, readText, requireViewer, sendHubPage, serverPath } from "./parts.ts";
import { readNext, withNext } from "./user-redirect.ts";

const Params = Type.Object({
  user: Type.Optional(Type.String({ maxLength: 255 })),
  server: Type.Optional(Type.String({ maxLength: 60 })),
});
type Route = { Params: { user?: string; server?: string } };

/** The form that starts a server, and the page that follows the start. */
export function addSpawnPages(app: FastifyInstance, context: HubContext): void {
  const { sql, profiles, lifecycle } = context;

  for (const path of ["/hub/spawn", "/hub/spawn/:user", "/hub/spawn/:user/:server"]) {
    app.get<Route>(path, { schema: { params: Params } }, async (request, reply) => {
      const viewer = await requireViewer(context, request, reply);
      if (viewer === undefined) {
        return reply;
      }
      const { user = viewer.user.name, server: name } = request.params;
      requireOwn(viewer, user);
      const all = await profiles.listFor(viewer.user);
      const unavailable = new Map<Profile, Unavailable>();
      for (const profile of all) {
        const why = await lifecycle.spawnerOf(profile).whyNot(profile);
        if (why !== undefined) {
          unavailable.set(profile, why);
        }
      }
      const problem = viewer.user.admin ? profiles.problem() : undefined;
      return sendHubPage(context, reply, {
        title: "Start a server",
        breadcrumbs: [{ label: "Start", href: "/hub/spawn" }],
        viewer,
        content: html`<h1>Start a server</h1>
          ${problem !== undefined && html`<p role="alert">The operator's profiles are not usable, so those of the hub are shown. ${problem}</p>`}
          ${all.length === 0 && html`<p role="alert">No profile is for you. An administrator puts you into a group that has one.</p>`}
          ${all.length > 0 && renderForm(context, viewer, { profiles: all, unavailable, name, next: readNext(request.query) })}`,
      });
    });
  }

  app.post("/hub/spawn", async (request, reply) => {
    const viewer = await requireViewer(context, request, reply);
    if (viewer === undefined) {
      return reply;
    }
    const body = request.body as Readonly<Record<string, unknown>>;
    const name = readText(body, "name").trim();
    const id = readText(body, "profile");
    const profile = (await profiles.listFor(viewer.user)).find((each) => each.id === id);
    if (profile === undefined) {
      throw new Problem(404, "There is no such profile that you may start.");
    }
    // Options of the form are named after their profile: others' do not count.
    const prefix = `${profile.definition.slug}.`;
    const options = Object.fromEntries(
      Object.entries(body).flatMap(([key, value]) =>
        key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [],
      ),
    );
    const running = await findServer(sql, viewer.user.name, name);
    if (running !== undefined && running.state !== "stopped" && running.profile !== profile.id) {
      throw new Problem(
        409,
        `${name === "" ? "Your default server" : `Your server ${name}`} is ${running.state} with ${running.definition.definition.display_name}. Stop it first, or give the new one a name of its own.`,
        { title: "It runs already" },
      );
    }
    if (running === undefined || running.state === "stopped") {
      await lifecycle.start(viewer.user, name, { profile, options: toOptions(options) });
    }
    return reply.redirect(withNext(serverPath("/hub/spawn-pending", viewer.user.name, name), readNext(body)), 303);
  });

  for (const path of ["/hub/spawn-pending/:user", "/hub/spawn-pending/:user/:server"]) {
    app.get<Route>(path, { schema: { params: Params } }, async (request, reply) => {
      const viewer = await requireViewer(context, request, reply);
      if (viewer === undefined) {
        return reply;
      }
      const { user = "", server: name = "" } = request.params;
      requireOwn(viewer, user);
      const server = await findServer(sql, user, name);
      if (server === undefined) {
        return reply.redirect("/hub/spawn", 302);
      }
      const opens = withNext(serverPath("/hub/open", user, name), readNext(request.query));
      if (server.state === "ready") {
        return reply.redirect(opens, 302);
      }
      const log = await lifecycle
        .spawnerOf(server.definition)
        .log(server.handle ?? { id: server.id })
        .catch(() => "");
      const last = server.progress.at(-1);
      const title = server.definition.definition.display_name;
      const isOver = server.state === "stopped";
      const api = `/hub/api/users/${encodeURIComponent(user)}/${name === "" ? "server" : `servers/${encodeURIComponent(name)}`}/progress`;
      return sendHubPage(context, reply.code(isOver ? 200 : 200), {
        title: isOver ? "Stopped" : "Starting",
        breadcrumbs: [{ label: isOver ? "Stopped" : "Starting", href: request.url }],
        viewer,
        ...(!isOver && { script: "/hub/static/progress.js" }),
        content: html`<h1>${isOver ? `${title} is not running` : `Starting ${title}`}</h1>
          ${isOver && html`<p role="alert">${server.end_reason ?? "It was not started yet."}</p>`}
          ${
            !isOver &&
            html`<div id="start" data-progress="${api}" data-opens="${opens}">
              <progress id="bar" max="100" value="${last?.progress ?? 0}" aria-label="Progress of the start"></progress>
              <p id="what" role="status">${last?.message ?? "waiting"}</p>
              <noscript
                ><p><a href="${request.url}">Look again</a></p></noscript
              >
            </div>`
          }
          <section ${log === "" && !isOver ? html`hidden` : html``}>
            <h2>Log</h2>
            <pre id="log" tabindex="0" aria-label="Log">${log.slice(-8000)}</pre>
          </section>
          ${
            isOver
              ? html`<p><a class="button" href="${serverPath("/hub/spawn", user, name)}">Start again</a></p>`
              : html`<form method="post" action="/hub/stop">
                  ${csrfField(context, viewer)}<input type="hidden" name="name" value="${name}" /><button class="quiet">
                    Stop
                  </button>
                </form>`
          }`,
      });
    });
  }
}

function requireOwn({ user }: Viewer, name: string): void {
  if (user.name !== name) {
    throw new Problem(403, `These are servers of ${name}; you are ${user.name}.`);
  }
}

interface SpawnForm {
  readonly profiles: readonly Profile[];
  readonly unavailable: ReadonlyMap<Profile, Unavailable>;
  readonly name: string | undefined;
  /** Path on the server that opens when it is ready; the server's first page where it is empty. */
  readonly next: string;
}

function renderForm(context: HubContext, viewer: Viewer, { profiles, unavailable, name, next }: SpawnForm): Html {
  const first =
    profiles.find((profile) => profile.definition.default === true && !unavailable.has(profile)) ??
    profiles.find((profile) => !unavailable.has(profile));
  return html`<form method="post" action="/hub/spawn">
    ${csrfField(context, viewer)}${next !== "" && html`<input type="hidden" name="next" value="${next}" />`}
    <fieldset class="profiles">
      <legend>What to start</legend>
      ${profiles.map((profile) => renderProfile(profile, unavailable.get(profile), profile === first))}
    </fieldset>
    <label for="name"
      >Name <span class="hint">(several servers at a time have names; none for the default one)</span></label
    >
    <input id="name" name="name" maxlength="60" pattern="[\\p{L}\\p{N}._\\-]*" value="${name ?? ""}" />
    <button>Start</button>
  </form>`;
}

function renderProfile(profile: Profile, unavailable: Unavailable | undefined, isChosen: boolean): Html {
  const { definition, id } = profile;
  const { cores, memoryBytes } = sizeOf(profile, {});
  const options = Object.entries(definition.profile_options ?? {});
  return html`<div class="profile ${unavailable === undefined ? "" : "unavailable"}">
    <input
      type="radio"
      name="profile"
      id="profile-${definition.slug}"
      value="${id}"
      ${isChosen ? html`checked` : html``}
      ${unavailable === undefined ? html`` : html`disabled`}
    />
    <div>
      <label for="profile-${definition.slug}">${definition.display_name}</label>
      ${(definition.description ?? "") !== "" && html`<p>${definition.description ?? ""}</p>`}
      ${cores > 0 && options.length === 0 && html`<p class="hint">${cores} cores, ${(memoryBytes / 2 ** 30).toFixed(1).replace(/\.0$/, "")} GiB of memory</p>`}
      ${
        unavailable !== undefined &&
        html`<p>Not here: ${unavailable.reason}.</p>
          ${unavailable.command !== undefined && html`<p>An operator makes it possible with <code>${unavailable.command}</code></p>`}`
      }
      ${
        options.length > 0 &&
        unavailable === undefined &&
        html`<div class="options">
          ${options.map(
            ([key, option]) =>
              html`<div>
                <label for="${definition.slug}-${key}">${option.display_name}</label>
                <select id="${definition.slug}-${key}" name="${definition.slug}.${key}">
                  ${Object.entries(option.choices).map(
                    ([choice, { display_name: label, default: isDefault }]) =>
                      html`<option value="${choice}" ${isDefault === true ? html`selected` : html``}>${label}</option>`,
                  )}
                </select>
              </div>`,
          )}
        </div>`
      }
    </div>
  </div>`;
}
