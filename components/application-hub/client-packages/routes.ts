import type { FastifyInstance, FastifyReply } from "fastify";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { ClientPackage } from "./client-package.ts";
import { buildTarball } from "./tarball.ts";
import { buildWheel } from "./wheel.ts";

const MANIFEST = join(import.meta.dirname, "../clients/javascript/package.json");

/**
 * The clients for programs anywhere, for everybody: `/clients/python/` is an index of pip (PEP 503), `/clients/javascript/` has the package that
 * npm installs by its address. They are those that servers of the hub have.
 */
export async function addClientPackages(app: FastifyInstance): Promise<void> {
  const { version } = JSON.parse(readFileSync(MANIFEST, "utf8")) as { version: string };
  const wheel = await buildWheel(version);
  const tarball = buildTarball(version);
  const digest = hash("sha256", wheel.bytes, "hex");
  const page = (reply: FastifyReply, links: readonly string[]) =>
    reply
      .headers({ "cache-control": "no-cache", "x-content-type-options": "nosniff" })
      .type("text/html; charset=utf-8")
      .send(
        `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="pypi:repository-version" content="1.0"><title>Clients</title></head><body>${links.join("<br>")}</body></html>\n`,
      );
  const file = (reply: FastifyReply, { name, bytes }: ClientPackage, type: string) =>
    reply
      .headers({
        "cache-control": "public, max-age=300",
        "x-content-type-options": "nosniff",
        "content-disposition": `attachment; filename="${name}"`,
      })
      .type(type)
      .send(bytes);
  const python = `<a href="/clients/python/swath-client/${wheel.name}#sha256=${digest}" data-requires-python="${wheel.requires.replace(">", "&gt;")}">${wheel.name}</a>`;
  const javascript = `<a href="/clients/javascript/${tarball.name}">${tarball.name}</a>`;

  app.get("/clients/", (_request, reply) => page(reply, [python, javascript]));
  app.get("/clients", (_request, reply) => reply.redirect("/clients/", 301));
  app.get("/clients/python/", (_request, reply) =>
    page(reply, ['<a href="/clients/python/swath-client/">swath-client</a>']),
  );
  app.get("/clients/python", (_request, reply) => reply.redirect("/clients/python/", 301));
  app.get("/clients/python/swath-client/", (_request, reply) => page(reply, [python]));
  app.get("/clients/python/swath-client", (_request, reply) => reply.redirect("/clients/python/swath-client/", 301));
  for (const folder of ["/clients/python/swath-client", "/clients/python"]) {
    app.get(`${folder}/${wheel.name}`, (_request, reply) => file(reply, wheel, "application/zip"));
  }
  app.get("/clients/javascript/", (_request, reply) => page(reply, [javascript]));
  app.get("/clients/javascript", (_request, reply) => reply.redirect("/clients/javascript/", 301));
  app.get(`/clients/javascript/${tarball.name}`, (_request, reply) => file(reply, tarball, "application/gzip"));
  // A name that stays: npm install …/clients/javascript/swath-client.tgz
  app.get("/clients/javascript/swath-client.tgz", (_request, reply) => file(reply, tarball, "application/gzip"));
}
