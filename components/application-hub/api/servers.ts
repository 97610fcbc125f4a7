import { Problem } from "@swath/service";
import { releaseOnClose } from "@swath/service/caller-limits";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";

import type { HubContext } from "../context.ts";
import { type ServerRow, findServer, findServerById } from "../store/servers.ts";
import { requireUser } from "../store/users.ts";
import { requireScope } from "./caller.ts";
import { openingPath } from "../servers/base-path.ts";

const Params = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  server: Type.Optional(Type.String({ maxLength: 60 })),
});
const Options = Type.Union([Type.Null(), Type.Record(Type.String({ maxLength: 60 }), Type.Unknown())]);
type Route = { Params: { name: string; server?: string } };

/** How long an answer to a start waits for the server, so that quick ones are ready with it. */
const WAIT_MS = 1000;
const POLL_MS = 100;
const MAX_PROGRESS_SECONDS = 900;
/** Each looks at its server ten times a second. */
export const PROGRESS_STREAMS = { name: "progress streams", perUser: 20, perAddress: 20, total: 200 };

/** `/hub/api/users/{name}/server`, `…/servers/{server}`, `…/progress` */
export function addServerRoutes(app: FastifyInstance, context: HubContext): void {
  const { sql, callers, lifecycle, profiles, progressStreams } = context;

  const start = async (request: FastifyRequest<Route & { Body: unknown }>, reply: FastifyReply) => {
    const caller = await callers.require(request);
    const { name, server: serverName = "" } = request.params;
    requireScope(caller, "start:servers", { user: name, server: `${name}/${serverName}` });
    const user = await requireUser(sql, name);
    const allowed = await profiles.listFor(user);
    const options = (request.body ?? {}) as Readonly<Record<string, unknown>>;
    const requested = options["profile"];
    const profile =
      requested === undefined
        ? (allowed.find(({ definition }) => definition.default === true) ?? allowed[0])
        : allowed.find(({ id, definition }) => id === requested || definition.slug === requested);
    if (profile === undefined) {
      throw new Problem(
        400,
        `${requested === undefined ? "There is no profile" : `There is no profile ${JSON.stringify(requested)}`} that ${name} may start; there are: ${allowed.map(({ id }) => id).join(", ") || "none"}.`,
      );
    }
    const server = await lifecycle.start(user, serverName, { profile, options: toOptions(options) });
    const settled = await waitWhile(() => findServerById(sql, server.id), "starting", WAIT_MS);
    return reply.code(settled?.state === "ready" ? 201 : 202).send();
  };

  const stop = async (request: FastifyRequest<Route & { Body: unknown }>, reply: FastifyReply) => {
    const caller = await callers.require(request);
    const { name, server: serverName = "" } = request.params;
    requireScope(caller, "delete:servers", { user: name, server: `${name}/${serverName}` });
    const server = await findServer(sql, name, serverName);
    if (server === undefined) {
      throw new Problem(404, `${name} has no server ${JSON.stringify(serverName)}.`);
    }
    await lifecycle.stop(server, caller.user?.name === name ? "You stopped it." : "An administrator stopped it.");
    if ((request.body as { remove?: unknown } | null)?.remove === true) {
      if (serverName === "") {
        throw new Problem(400, "The default server cannot be removed.");
      }
      await sql.rows("delete from servers where id = $1", [server.id]);
    }
    return reply.code(204).send();
  };

  const follow = async (request: FastifyRequest<Route>, reply: FastifyReply) => {
    const caller = await callers.require(request);
    const { name, server: serverName = "" } = request.params;
    requireScope(caller, "read:servers", { user: name, server: `${name}/${serverName}` });
    const server = await findServer(sql, name, serverName);
    if (server === undefined || (server.state === "stopped" && server.progress.length === 0)) {
      throw new Problem(404, `Server ${JSON.stringify(serverName)} of ${name} is not starting.`);
    }
    const user = caller.user?.name ?? caller.service;
    releaseOnClose(reply.raw, progressStreams.take({ user, address: request.ip }));
    reply.hijack();
    await sendProgress(context, server, reply);
  };

  for (const path of ["/users/:name/server", "/users/:name/servers/:server", "/users/:name/servers/"]) {
    app.post<Route & { Body: unknown }>(path, { schema: { params: Params, body: Options } }, start);
    app.delete<Route & { Body: unknown }>(path, { schema: { params: Params } }, stop);
  }
  for (const path of ["/users/:name/server/progress", "/users/:name/servers/:server/progress"]) {
    app.get<Route>(path, { schema: { params: Params } }, follow);
  }
}

/** What of a request's options profiles know: short texts. */
export function toOptions(options: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) =>
      name !== "profile" && name.length <= 60 && typeof value === "string" && value.length <= 200
        ? [[name, value]]
        : [],
    ),
  );
}

/** Server-sent events until the server is ready or has failed (JupyterHub, "Progress"). */
async function sendProgress(
  { sql, lifecycle, originOf }: HubContext,
  first: ServerRow,
  reply: FastifyReply,
): Promise<void> {
  const { raw } = reply;
  raw.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" });
  const deadline = Date.now() + MAX_PROGRESS_SECONDS * 1000;
  let sent = 0;
  let log = "";
  let isOpen = true;
  raw.on("close", () => {
    isOpen = false;
  });
  const send = (event: object) => raw.write(`data: ${JSON.stringify(event)}\n\n`);
  for (
    let server: ServerRow | undefined = first;
    isOpen && Date.now() < deadline;
    server = await findServerById(sql, first.id)
  ) {
    if (server === undefined) {
      send({ progress: 100, failed: true, message: "The server was removed." });
      break;
    }
    for (const event of server.progress.slice(sent)) {
      if (event.message !== "ready") {
        send({ progress: Math.min(event.progress, 99), message: event.message });
      }
    }
    sent = server.progress.length;
    const written = await lifecycle
      .spawnerOf(server.definition)
      .log(server.handle ?? { id: server.id })
      .catch(() => "");
    if (written !== log) {
      send({ progress: 60, message: "", log: written.slice(-8000) });
      log = written;
    }
    if (server.state === "ready") {
      const url = `${originOf(server.label)}${openingPath(server)}`;
      send({
        progress: 100,
        ready: true,
        message: "Server ready",
        html_message: `Server ready at <a href="${url}">${url}</a>`,
        url,
      });
      break;
    }
    if (server.state === "stopped") {
      send({ progress: 100, failed: true, message: server.end_reason ?? "The server stopped." });
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  raw.end();
}

async function waitWhile(
  read: () => Promise<ServerRow | undefined>,
  state: ServerRow["state"],
  milliseconds: number,
): Promise<ServerRow | undefined> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const server = await read();
    if (server?.state !== state || Date.now() > deadline) {
      return server;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
