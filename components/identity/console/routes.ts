import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { sendErrorPage } from "../pages/send-error-page.ts";
import { clientPages } from "./clients.ts";
import { eventPages } from "./events.ts";
import { groupPages } from "./groups.ts";
import { CONSOLE_STYLE_PATH, realmPath } from "./layout.ts";
import { addHomePage, addPage, addVisits } from "./page.ts";
import { matrixPages } from "./matrix.ts";
import { policyPages } from "./policies.ts";
import { newRealmPage } from "./new-realm.ts";
import { resourcePages } from "./resources.ts";
import { rolePages } from "./roles.ts";
import { sessionPages } from "./sessions.ts";
import { settingPages } from "./settings.ts";
import { CONSOLE_STYLE } from "./style.ts";
import { userListPages } from "./user-list.ts";
import { userPages } from "./users.ts";
import { CONSOLE } from "./console-context.ts";
import { addConsoleApp } from "./web.ts";

/** The administration console at `/`, for people with the role `admin` of realm `master`. */
export async function addConsoleRoutes(app: FastifyInstance, context: IdentityContext): Promise<void> {
  app.setErrorHandler(sendErrorPage);
  await addConsoleApp(app);
  app.get(CONSOLE_STYLE_PATH, { schema: { hide: true } }, (_request, reply) =>
    reply.type("text/css; charset=utf-8").header("cache-control", "public, max-age=300").send(CONSOLE_STYLE),
  );
  app.get("/", { schema: { hide: true } }, (_request, reply) => reply.redirect(CONSOLE));
  addVisits(app, context, CONSOLE, async ({ reply }) => reply.redirect(realmPath("master", "/users"), 303));
  addVisits(app, context, `${CONSOLE}/switch`, async ({ reply, query }) =>
    reply.redirect(realmPath(query["realm"] ?? "master", "/users"), 303),
  );
  addVisits(app, context, `${CONSOLE}/realms/:realm`, async ({ request, reply }) =>
    reply.redirect(realmPath((request.params as { realm: string }).realm, "/users"), 303),
  );
  addHomePage(app, context, newRealmPage);
  for (const page of [
    ...userListPages,
    ...userPages,
    ...clientPages,
    ...resourcePages,
    ...matrixPages,
    ...policyPages,
    ...rolePages,
    ...groupPages,
    ...sessionPages,
    ...eventPages,
    ...settingPages,
  ]) {
    addPage(app, context, page);
  }
}
