import fastifyStatic from "@fastify/static";
import type { Logger } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import type { FastifyInstance, FastifyReply } from "fastify";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { isHiddenFile, liteConfig } from "../lite/lite-config.ts";

const LITE = join(
  dirname(fileURLToPath(import.meta.resolve("@galaxyproject/jupyterlite/package.json"))),
  "static/dist/_output",
);
const PYODIDE = dirname(fileURLToPath(import.meta.resolve("pyodide/package.json")));
const OWN = join(import.meta.dirname, "../lite/site");
const NOTEBOOKS = join(import.meta.dirname, "../notebooks");
const CLIENTS = join(import.meta.dirname, "../clients");

/** Nothing is fetched from anywhere else, whatever a notebook contains. */
const POLICY =
  "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; connect-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; frame-ancestors 'none'";

/** JupyterLite with Pyodide, as files that the proxy has. */
export async function createLiteSite(logger: Logger): Promise<FastifyInstance> {
  const app = createApp(logger, { keepsSlashes: true });
  await app.register(fastifyStatic, { root: LITE, serve: false, dotfiles: "ignore" });
  const send = (reply: FastifyReply, root: string, path: string, maxAge = "public, max-age=3600") => {
    const file = join(root, path);
    if (isHiddenFile(path) || !existsSync(file) || !statSync(file).isFile()) {
      return reply.code(404).type("text/plain").send("There is no such file.\n");
    }
    return reply
      .headers({ "content-security-policy": POLICY, "cache-control": maxAge, "x-content-type-options": "nosniff" })
      .sendFile(path, root, { cacheControl: false });
  };
  app.get("/", (_request, reply) => reply.redirect("/lab/index.html", 302));
  app.get("/jupyter-lite.json", (_request, reply) => reply.header("cache-control", "no-cache").send(liteConfig(LITE)));
  app.get("/api/contents/all.json", () => listNotebooks());
  app.get<{ Params: { "*": string } }>("/api/contents/*", (_request, reply) => reply.code(404).send({}));
  app.get<{ Params: { "*": string } }>("/files/*", (request, reply) =>
    send(reply, NOTEBOOKS, request.params["*"], "no-cache"),
  );
  app.get<{ Params: { "*": string } }>("/pyodide/*", (request, reply) => send(reply, PYODIDE, request.params["*"]));
  app.get<{ Params: { "*": string } }>("/swath-clients/*", (request, reply) =>
    send(reply, CLIENTS, request.params["*"], "no-cache"),
  );
  app.get<{ Params: { "*": string } }>("/extensions/swath-kernel/*", (request, reply) =>
    send(reply, OWN, request.params["*"], "no-cache"),
  );
  app.get<{ Params: { "*": string } }>("/*", (request, reply) => {
    const path = request.params["*"];
    return send(reply, LITE, path === "" || path.endsWith("/") ? `${path}index.html` : path);
  });
  return app;
}

/** The example notebooks, as JupyterLite's list of files. */
function listNotebooks(): object {
  const files = readdirSync(NOTEBOOKS).filter((name) => name.endsWith(".ipynb"));
  return {
    name: "",
    path: "",
    last_modified: "2026-01-01T00:00:00Z",
    created: "2026-01-01T00:00:00Z",
    format: "json",
    mimetype: null,
    size: null,
    type: "directory",
    writable: true,
    content: files.map((name) => ({
      name,
      path: name,
      last_modified: "2026-01-01T00:00:00Z",
      created: "2026-01-01T00:00:00Z",
      content: null,
      format: null,
      mimetype: null,
      size: readFileSync(join(NOTEBOOKS, name)).length,
      type: "notebook",
      writable: true,
    })),
  };
}
