import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createLogger } from "@swath/service";
import { CallerLimits } from "@swath/service/caller-limits";
import { createApp } from "@swath/service/fastify";

import type { IdentityContext } from "../context.ts";
import { addAllRoutes } from "../service.ts";

const TABLE = join(import.meta.dirname, "../../../docs/reference/identity-rights.md");

/** Who may, by route (`GET /admin/realms/:realm`), as the table for people says. */
export const readRightsTable = (): ReadonlyMap<string, string> =>
  new Map(
    [...readFileSync(TABLE, "utf8").matchAll(/^\| `([A-Z]+)` +\| `(\/admin[^`]*)` +\| (.*?) +\|$/gm)].map(
      ([, method, path, who]) => [`${method} ${path}`, (who ?? "").replaceAll("`", "")] as const,
    ),
  );

/** What every other address answers to each kind of caller, by route, as the table for people says. */
export const readAnswersTable = (): ReadonlyMap<string, readonly number[]> =>
  new Map(
    [...readFileSync(TABLE, "utf8").matchAll(/^\| `([A-Z]+)` +\| `(\/[^`]*)` +((?:\| \d+ +)+)\|$/gm)].map(
      ([, method, path, statuses = ""]) =>
        [`${method} ${path}`, [...statuses.matchAll(/\d+/g)].map(([status]) => Number(status))] as const,
    ),
  );

/** Every route of the admin API. */
export const listAdminRoutes = async (): Promise<readonly string[]> =>
  (await listRoutes()).filter((route) => / \/admin\b/.test(route));

/** Every other route of the service, with the login service of variant B and the registration of clients. */
export const listOtherRoutes = async (): Promise<readonly string[]> =>
  (await listRoutes()).filter((route) => !/ \/admin\b/.test(route));

async function listRoutes(): Promise<readonly string[]> {
  const routes = new Set<string>();
  const app = createApp(createLogger("rights", "silent"));
  app.addHook("onRoute", ({ method, url }) => {
    for (const each of [method].flat()) {
      if (each !== "HEAD" && each !== "OPTIONS") {
        routes.add(`${each} ${url}`);
      }
    }
  });
  const profile = { mailer: undefined, removalSeconds: 0 };
  const login = { provider: "oxauth", realm: "master", registration: "open", profile, delegates: {} };
  // Routes are only listed: nothing is asked of it.
  await addAllRoutes(app, {
    login,
    registration: "open",
    publicUrl: "http://identity.test",
    limits: new CallerLimits(),
  } as unknown as IdentityContext);
  await app.ready();
  await app.close();
  return [...routes];
}
