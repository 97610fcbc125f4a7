import { html } from "@swath/pages";
import { Problem, decodePercent } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import { mayEnter } from "../access/may-enter.ts";
import type { HubContext } from "../context.ts";
import { createSecret } from "../store/database.ts";
import { type ServerRow, findServer, findServerByLabel } from "../store/servers.ts";
import { requireViewer, sendHubPage, serverPath } from "./parts.ts";
import { pathOn, readNext } from "./user-redirect.ts";

const EnterQuery = Type.Object({
  server: Type.String({ maxLength: 63 }),
  state: Type.String({ pattern: "^[\\w-]{20,100}$" }),
});
const CODE_SECONDS = 60;

/** Letting people in to servers, which have origins of their own. */
export function addEnterPages(app: FastifyInstance, context: HubContext): void {
  const { sql, originOf } = context;

  const open = async (
    request: FastifyRequest<{ Params: { user: string; server?: string; "*"?: string } }>,
    reply: FastifyReply,
  ) => {
    const { user, server: name = "" } = request.params;
    const server = await findServer(sql, user, name);
    if (server?.state !== "ready") {
      return sendNotRunning(context, request, reply, server);
    }
    return reply.redirect(`${originOf(server.label)}${pathOn(server, readNext(request.query))}`, 302);
  };
  app.get("/hub/open/:user", open);
  app.get("/hub/open/:user/:server", open);

  // Addresses of JupyterHub: /user/<user>/…, /hub/user/<user>/…, which lead to the server's own origin.
  const lead = async (request: FastifyRequest<{ Params: { user: string; "*"?: string } }>, reply: FastifyReply) => {
    const { user } = request.params;
    const [first = ""] = (request.params["*"] ?? "").split("/");
    const named = first === "" ? undefined : await findServer(sql, user, decodePercent(first));
    const server = named ?? (await findServer(sql, user, ""));
    if (server?.state !== "ready") {
      return sendNotRunning(context, request, reply, server);
    }
    const path = request.url.replace(/^\/hub(?=\/user\/)/, "");
    return reply.redirect(`${originOf(server.label)}${path}`, 307);
  };
  for (const path of ["/user/:user", "/user/:user/*", "/hub/user/:user", "/hub/user/:user/*"]) {
    app.all(path, lead);
  }

  app.get<{ Querystring: Static<typeof EnterQuery> }>(
    "/hub/enter",
    { schema: { querystring: EnterQuery } },
    async (request, reply) => {
      const viewer = await requireViewer(context, request, reply);
      if (viewer === undefined) {
        return reply;
      }
      const { server: label, state } = request.query;
      const server = await findServerByLabel(sql, label);
      if (server === undefined || (await mayEnter(sql, viewer.user.name, server)) === undefined) {
        throw new Problem(
          403,
          server === undefined
            ? "There is no such server; it may have been removed."
            : `This is a server of ${server.user_name}, and it is not shared with you (${viewer.user.name}), or not any more. Ask ${server.user_name} to share it.`,
          { title: "Not your server" },
        );
      }
      if (server.state !== "ready") {
        return sendNotRunning(context, request, reply, server);
      }
      const { secret, hash } = createSecret();
      await sql.rows(
        "insert into entries (hash, server_id, login_id, state, expires) values ($1, $2, $3, $4, now() + make_interval(secs => $5))",
        [hash, server.id, viewer.login.id, state, CODE_SECONDS],
      );
      const back = new URL("/.swath/enter", originOf(server.label));
      back.searchParams.set("code", secret);
      back.searchParams.set("state", state);
      return reply.header("cache-control", "no-store").redirect(back.href, 302);
    },
  );
}

/** Failed Dependency: JupyterHub answers so since 2.0, since 503 is for the hub itself. */
const NOT_RUNNING = 424;

/** Says that a server is not there, why, and how to have it again. */
async function sendNotRunning(
  context: HubContext,
  request: FastifyRequest,
  reply: FastifyReply,
  server: ServerRow | undefined,
): Promise<FastifyReply> {
  if (!/text\/html/.test(request.headers.accept ?? "")) {
    throw new Problem(NOT_RUNNING, server?.end_reason ?? "The server is not running.", {
      headers: { "retry-after": "5" },
    });
  }
  const viewer = await requireViewer(context, request, reply);
  if (viewer === undefined) {
    return reply;
  }
  if (server !== undefined && (await mayEnter(context.sql, viewer.user.name, server)) === undefined) {
    throw new Problem(
      403,
      `This is a server of ${server.user_name}, and it is not shared with you (${viewer.user.name}), or not any more.`,
      { title: "Not your server" },
    );
  }
  const isOwn = server?.user_name === viewer.user.name;
  if (server?.state === "starting" && isOwn) {
    return reply.redirect(serverPath("/hub/spawn-pending", server.user_name, server.name), 302);
  }
  return sendHubPage(context, reply.code(NOT_RUNNING).header("retry-after", "5"), {
    title: "Not running",
    breadcrumbs: [{ label: "Not running", href: request.url.split("?", 1)[0] ?? "" }],
    viewer,
    content: html`<h1>The server is not running</h1>
      <p role="alert">
        ${server === undefined ? "It was not started yet." : server.state === "stopped" ? (server.end_reason ?? "It was stopped.") : `It is ${server.state}.`}
      </p>
      ${
        isOwn || server === undefined
          ? html`<p>
              <a
                class="button"
                href="${server === undefined ? "/hub/spawn" : serverPath("/hub/spawn", server.user_name, server.name)}"
                >Start it</a
              >
            </p>`
          : html`<p>Its owner, ${server.user_name}, can start it again.</p>`
      }`,
  });
}
