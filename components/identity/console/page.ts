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
import { type ConsoleContext, logInPath, recordSession, openConsoleContext } from "./console-context.ts";

/** A visit to a page of one realm. */
export interface RealmContext extends ConsoleContext {
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
  readonly show: (ctx: RealmContext) => Promise<View>;
  readonly actions?: Readonly<Record<string, (ctx: RealmContext, fields: FormFields) => Promise<string>>>;
}

/** What happened, by the name that the address carries after a change. */
const DONE: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
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
  }),
);

/** A page below `/console/realms/:realm`. */
export function addPage(app: FastifyInstance, context: IdentityContext, page: ConsolePage): void {
  const url = `/console/realms/:realm${page.path}`;
  addVisits(app, context, url, async (ctx) => {
    const params = ctx.request.params as Readonly<Record<string, string>>;
    const { realm: name = "" } = params;
    // Disabled realms can be administered, else nobody could enable them.
    const realm = await findRealm(context.pool, name);
    if (realm === undefined) {
      throw new AdminError(404, `There is no realm ${name}.`);
    }
    await response(ctx, page, { realm, params });
  });
}

/** A page that is about no one realm, shown as one of `master`. */
export function addHomePage(app: FastifyInstance, context: IdentityContext, page: ConsolePage): void {
  addVisits(app, context, page.path, async (ctx) => {
    await response(ctx, page, { realm: (await findRealmOr404(context, "master")).realm, params: {} });
  });
}

/** GET and POST of an address for administrators: everybody else is sent to log in, or away. */
export function addVisits(
  app: FastifyInstance,
  context: IdentityContext,
  url: string,
  handle: (ctx: ConsoleContext) => Promise<unknown>,
): void {
  app.route({
    method: ["GET", "POST"],
    url,
    schema: { hide: true },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      void reply.headers(SECURITY_HEADERS).type("text/html; charset=utf-8");
      const ctx = await openConsoleContext(context, app, request, reply);
      const path = request.url.split("?", 1)[0] ?? "";
      if (ctx === "stranger" && "code" in (request.query as object)) {
        return reply.redirect(path, 303);
      }
      if (ctx === "stranger") {
        return reply.code(403).send(renderForbiddenPage());
      }
      if (ctx === "anonymous") {
        const { error } = request.query as Readonly<Record<string, unknown>>;
        return typeof error === "string"
          ? reply.code(403).send(renderErrorPage({ title: "You are not logged in", message: "Login cancelled." }))
          : reply.redirect(logInPath(context, request.method === "GET" ? path : "/console"), 303);
      }
      if (request.method === "POST") {
        const { [FORM_TOKEN]: token } = (request.body ?? {}) as Readonly<Record<string, unknown>>;
        if (!isFormToken(ctx.home.realm, CONSOLE_TOKEN, ctx.session.uid, token)) {
          return reply.code(403).send(
            renderErrorPage({
              title: "This form has expired",
              message: "The form did not come from this page. Go back and try again.",
            }),
          );
        }
      } else if (ctx.query["code"] !== undefined) {
        await recordSession(ctx);
        // The code of the way in has no business in the address bar.
        return reply.redirect(path, 303);
      }
      return handle(ctx);
    },
  });
}

async function response(
  ctx: ConsoleContext,
  page: ConsolePage,
  { realm, params }: { readonly realm: Realm; readonly params: Readonly<Record<string, string>> },
): Promise<void> {
  const { request, reply } = ctx;
  const prepare = (submitted: Submitted | undefined): RealmContext => ({
    ...ctx,
    realm,
    params,
    to: (rest) => realmPath(realm.name, rest),
    form: (action) => openForm(ctx, submitted, action),
    call: (method, path, body) => callAdmin(ctx, method, `/${encodeURIComponent(realm.name)}${path}`, body),
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
      ctx,
      realm: realm.name,
      realms: (await listRealms(ctx.context.pool)).map(({ name }) => name),
      // What the form was about may be gone, and the form with it.
      bad: submitted === undefined || view.content.text.includes('role="alert"') ? undefined : submitted.bad,
      good: submitted === undefined ? DONE.get(ctx.query["done"] ?? "") : undefined,
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
