import { parseCookies, readCookie, renderCookie } from "@swath/auth";
import { LoginFailure, addBackChannelLogout } from "@swath/auth/login";
import { html } from "@swath/pages";
import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { HubContext } from "../context.ts";
import { sendHubPage } from "./parts.ts";

const COOKIE_SECONDS = 7 * 86_400;
const MAX_PATH_CHARACTERS = 4000;

/** Logging in by the platform's identity, and out of everything. */
export function addLoginPages(app: FastifyInstance, context: HubContext): void {
  const { flow, logins, publicUrl, cookieName } = context;
  const secure = publicUrl.startsWith("https:");

  const start = async (request: FastifyRequest<{ Querystring: { next?: string } }>, reply: FastifyReply) => {
    if (flow === undefined) {
      throw new Problem(503, "This deployment has no identity service that people could log in with.");
    }
    const { location, setCookies } = await flow
      .start(parseCookies(request.headers.cookie), request.query.next)
      .catch((error: unknown) => {
        throw error instanceof LoginFailure
          ? new Problem(503, `${error.message}.`, { cause: error, headers: { "retry-after": "2" } })
          : error;
      });
    return reply.header("set-cookie", [...setCookies]).redirect(location, 303);
  };
  app.get("/hub/login", start);
  app.get("/hub/oauth_login", start);

  app.get("/hub/oauth_callback", async (request, reply) => {
    const { search } = new URL(request.url, publicUrl);
    try {
      const finished = await flow?.finish(parseCookies(request.headers.cookie), search, request.headers["user-agent"]);
      if (finished === undefined) {
        throw new Problem(503, "This deployment has no identity service that people could log in with.");
      }
      const { cookie } = await logins.begin(finished.tokens);
      const own = renderCookie(cookieName, cookie, { secure, sameSite: "Lax", maxAge: COOKIE_SECONDS });
      return await reply.header("set-cookie", [...finished.setCookies, own]).redirect(finished.location, 303);
    } catch (error) {
      if (!(error instanceof LoginFailure)) {
        throw error;
      }
      request.log.info({ err: error }, "login not completed");
      return sendHubPage(context, reply.code(error.kind === "unavailable" ? 503 : 403), {
        title: "Not logged in",
        breadcrumbs: [{ label: "Log in", href: "/hub/login" }],
        content: html`<h1>Not logged in</h1>
          <p role="alert">The login was not completed: ${error.message}.</p>
          <p><a class="button" href="/hub/login">Log in again</a></p>`,
      });
    }
  });

  if (context.logoutTokens !== undefined) {
    addBackChannelLogout(app, {
      path: "/hub/back-channel-logout",
      verifier: context.logoutTokens,
      endSessions: logins.endAll,
      logger: context.logger,
    });
  }

  app.get("/hub/logout", async (request, reply) => {
    const cookie = readCookie(parseCookies(request.headers.cookie), cookieName);
    const login = cookie === undefined ? undefined : await logins.find(cookie);
    if (login !== undefined) {
      await logins.end(login.id);
    }
    void reply.header("set-cookie", renderCookie(cookieName, "", { secure, sameSite: "Lax", maxAge: 0 }));
    const end = await context.endSessionUrl().catch(() => undefined);
    if (end === undefined) {
      return reply.redirect("/hub/logged-out", 302);
    }
    const url = new URL(end);
    url.searchParams.set("client_id", "application-hub");
    url.searchParams.set("post_logout_redirect_uri", `${publicUrl}/hub/logged-out`);
    return reply.redirect(url.href, 302);
  });

  app.get("/hub/logged-out", (_request, reply) =>
    sendHubPage(context, reply, {
      title: "Logged out",
      breadcrumbs: [{ label: "Logged out", href: "/hub/logged-out" }],
      content: html`<h1>Logged out</h1>
        <p>Your servers run on without new tokens until you log in again or they are stopped.</p>
        <p><a class="button" href="/hub/login">Log in</a></p>`,
    }),
  );
}

/** A page of the hub, from a parameter that anyone may have written; never another host, nor a page that sends on to log in. */
export function toOwnPath(path: string | undefined): string {
  return path !== undefined &&
    path.length <= MAX_PATH_CHARACTERS &&
    /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) &&
    !/^\/hub\/(login|logout|oauth_)/.test(path)
    ? path
    : "/hub/";
}
