import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createLogger } from "@swath/service";
import { createApp } from "@swath/service/fastify";

import { addAdminRoutes } from "../admin/routes.ts";
import type { IdentityContext } from "../context.ts";

const TABLE = join(import.meta.dirname, "../../../docs/reference/identity-rights.md");

/** Who may, by route (`GET /admin/realms/:realm`), as the table for people says. */
export const readRightsTable = (): ReadonlyMap<string, string> =>
  new Map(
    [...readFileSync(TABLE, "utf8").matchAll(/^\| `([A-Z]+)` +\| `(\/admin[^`]*)` +\| (.*?) +\|$/gm)].map(
      ([, method, path, who]) => [`${method} ${path}`, (who ?? "").replaceAll("`", "")] as const,
    ),
  );

/** Every route of the admin API. */
export async function listAdminRoutes(): Promise<readonly string[]> {
  const routes = new Set<string>();
  const app = createApp(createLogger("rights", "silent"));
  app.addHook("onRoute", ({ method, url }) => {
    for (const each of [method].flat()) {
      if (each !== "HEAD" && each !== "OPTIONS" && url.startsWith("/admin")) {
        routes.add(`${each} ${url}`);
      }
    }
  });
  // Routes are only listed: nothing is asked of it.
  addAdminRoutes(app, {} as IdentityContext);
  await app.ready();
  await app.close();
  return [...routes];
}
