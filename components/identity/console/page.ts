import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { AdminError } from "../admin/errors.ts";
import type { IdentityContext } from "../context.ts";
import { SECURITY_HEADERS } from "../oidc/provider.ts";
import { renderErrorPage } from "../pages/error-page.ts";
import { FORM_TOKEN, isFormToken } from "../pages/form-token.ts";
import { findRealmOr404 } from "../protocol/realm-scope.ts";
import { isUuid } from "../store/database.ts";
import { type Realm, findRealm, listRealms } from "../store/realms.ts";
import { Refusal, callAdmin } from "./admin-api.ts";
import { renderForbiddenPage } from "./forbidden-page.ts";
import { CONSOLE_TOKEN, type Form, type Submitted, openForm } from "./form.ts";
import { FormFields } from "./form-fields.ts";
import { type View, realmPath, renderConsolePage } from "./layout.ts";
import { findConsoleApp } from "./web.ts";
import { type Visit, logInPath, noteSession, openVisit } from "./visit.ts";

/** A visit to a page of one realm. */
export interface RealmVisit extends Visit {
  readonly realm: Realm;
  readonly params: Readonly<Record<string, string>>;
  /** Path of another page of this realm. */
  readonly to: (rest: string) => string;
  /** A form of this page. */
  readonly form: (action: string) => Form;
  /** A request to the admin API of this realm. */
  readonly call: (method: Parameters<typeof callAdmin>[1], path: string, body?: object) => ReturnType<typeof callAdmin>;
}

/** A page, and what its forms do. An action gives the path to go on to. */
export interface ConsolePage {
  readonly path: string;
  readonly show: (visit: RealmVisit) => Promise<View>;
  readonly actions?: Readonly<Record<string, (visit: RealmVisit, fields: FormFields) => Promise<string>>>;
}

/** What happened, by the name that the address carries after a change. */
const DONE: Readonly<Record<string, string>> = {
  created: "It is created.",
  saved: "It is saved.",
  deleted: "It is deleted.",
  ended: "The session has ended.",
  "logged-out": "The user is logged out everywhere.",
  "device-removed": "The device is removed.",
  password: "The password is set; the user's sessions have ended.",
  unlocked: "The user may log in again.",
  enabled: "The user is enabled.",
  disabled: "The user is disabled, and the user's sessions have ended.",
  given: "The role is given.",
  taken: "The role is taken away.",
  joined: "The user is in the group.",
  left: "The user has left the group.",
  assigned: "It is assigned, and holds from now on.",
  revoked: "It is taken back.",
  secret: "The client has a new secret; the old one is worth nothing any more.",
  rotated: "New tokens are signed with new keys; those in use go on for as long as they live.",
};

/** A page below `/console/realms/:realm`. */
export function addPage(app: FastifyInstance, context: IdentityContext, page: ConsolePage): void {
  const url = `/console/realms/:realm${page.path}`;
  addVisits(app, context, url, async (visit) => {
    const params = visit.request.params as Readonly<Record<string, string>>;
    const { realm: name = "" } = params;
    // Disabled realms can be administered, else nobody could enable them.
    const realm = await findRealm(context.pool, name);
    if (realm === undefined) {
      throw new AdminError(404, `There is no realm ${name}.`);
    }
    await answer(visit, page, { realm, params });
  });
}

/** A page that is about no one realm, shown as one of `master`. */
export function addHomePage(app: FastifyInstance, context: IdentityContext, page: ConsolePage): void {
  addVisits(app, context, page.path, async (visit) => {
    await answer(visit, page, { realm: (await findRealmOr404(context, "master")).realm, params: {} });
  });
}

/** GET and POST of an address for administrators: everybody else is sent to log in, or away. */
export function addVisits(
  app: FastifyInstance,
  context: IdentityContext,
  url: string,
  handle: (visit: Visit) => Promise<unknown>,
): void {
  app.route({
    method: ["GET", "POST"],
    url,
    schema: { hide: true },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      void reply.headers(SECURITY_HEADERS).type("text/html; charset=utf-8");
      const visit = await openVisit(context, app, request, reply);
      const path = request.url.split("?", 1)[0] ?? "";
      if (visit === "stranger" && "code" in (request.query as object)) {
        return reply.redirect(path, 303);
      }
      if (visit === "stranger") {
        return reply.code(403).send(renderForbiddenPage());
      }
      if (visit === "anonymous") {
        const { error } = request.query as Readonly<Record<string, unknown>>;
        return typeof error === "string"
          ? reply
              .code(403)
              .send(renderErrorPage({ title: "You are not logged in", message: "The login was given up." }))
          : reply.redirect(logInPath(context, request.method === "GET" ? path : "/console"), 303);
      }
      if (request.method === "POST") {
        const { [FORM_TOKEN]: token } = (request.body ?? {}) as Readonly<Record<string, unknown>>;
        if (!isFormToken(visit.home.realm, CONSOLE_TOKEN, visit.session.uid, token)) {
          return reply.code(403).send(
            renderErrorPage({
              title: "Not from this page",
              message: "The form did not come from this page. Go back and try again.",
            }),
          );
        }
      } else if (visit.query["code"] !== undefined) {
        await noteSession(visit);
        // The code of the way in has no business in the address bar.
        return reply.redirect(path, 303);
      }
      return handle(visit);
    },
  });
}

async function answer(
  visit: Visit,
  page: ConsolePage,
  { realm, params }: { readonly realm: Realm; readonly params: Readonly<Record<string, string>> },
): Promise<void> {
  const { request, reply } = visit;
  const prepare = (submitted: Submitted | undefined): RealmVisit => ({
    ...visit,
    realm,
    params,
    to: (rest) => realmPath(realm.name, rest),
    form: (action) => openForm(visit, submitted, action),
    call: (method, path, body) => callAdmin(visit, method, `/${encodeURIComponent(realm.name)}${path}`, body),
  });
  let submitted: Submitted | undefined;
  let status = 200;
  if (request.method === "POST") {
    const fields = new FormFields(request.body);
    const action = fields.text("action");
    const run = page.actions !== undefined && Object.hasOwn(page.actions, action) ? page.actions[action] : undefined;
    if (run === undefined) {
      throw new AdminError(400, "This page has no such form.");
    }
    try {
      void reply.redirect(await run(prepare(undefined), fields), 303);
      return;
    } catch (error) {
      const bad = explain(error);
      if (bad === undefined) {
        throw error;
      }
      ({ status } = bad);
      submitted = { action, fields, bad: bad.message };
    }
  }
  const view = await page.show(prepare(submitted));
  const app = await findConsoleApp();
  if (app !== undefined) {
    void reply.header("content-security-policy", app.policy);
  }
  void reply.code(status).send(
    renderConsolePage({
      app,
      ...view,
      visit,
      realm: realm.name,
      realms: (await listRealms(visit.context.pool)).map(({ name }) => name),
      // What the form was about may be gone, and the form with it.
      bad: submitted === undefined || view.content.text.includes('role="alert"') ? undefined : submitted.bad,
      good: submitted === undefined ? DONE[visit.query["done"] ?? ""] : undefined,
    }),
  );
}

/** What people can mend; everything else is a fault of the service. */
function explain(error: unknown): { status: number; message: string } | undefined {
  if (error instanceof Refusal) {
    return error.status < 500 ? { status: error.status, message: error.message } : undefined;
  }
  return error instanceof RangeError ? { status: 400, message: error.message } : undefined;
}

/** What a path parameter names. @throws {AdminError} 404 */
export async function findOr404<Found>(
  id: string | undefined,
  what: string,
  find: (id: string) => Promise<Found | undefined>,
): Promise<Found> {
  const found = id !== undefined && isUuid(id) ? await find(id) : undefined;
  if (found === undefined) {
    throw new AdminError(404, `${what} does not exist any more, or never did.`);
  }
  return found;
}
