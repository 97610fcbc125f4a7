import { parseCookies } from "@swath/auth";
import { LoginFailure, type LoginFlow, type OidcClient } from "@swath/auth/login";
import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import * as openid from "openid-client";

import { isOwnNavigation, requireSameOrigin } from "../http/same-origin.ts";
import type { LoginTokens, TokenCookies, TokenSet } from "../session/token-cookies.ts";

export interface AuthDeps {
  readonly client: OidcClient;
  readonly flow: LoginFlow;
  readonly cookies: TokenCookies;
  readonly publicUrl: string;
  /** What of a login is kept in the browser: in variant B its ID token in place of the access token. */
  readonly toKept: (tokens: LoginTokens) => TokenSet;
  /** Lets go of what is remembered of a token. */
  readonly forget: (token: string) => void;
}

/** Logging in and out: pages that a browser is sent through. */
export function addAuthRoutes(
  app: FastifyInstance,
  { client, flow, cookies, publicUrl, toKept, forget }: AuthDeps,
): void {
  const logIn = async (request: FastifyRequest, reply: FastifyReply) => {
    const { return: named, next } = request.query as { return?: unknown; next?: unknown };
    // `next` is what the portal of variant B calls it.
    const returnTo = named ?? next;
    const present = parseCookies(request.headers.cookie);
    try {
      const { location, setCookies } = await flow.start(present, typeof returnTo === "string" ? returnTo : undefined);
      return await reply.header("set-cookie", [...setCookies]).redirect(location, 302);
    } catch (error) {
      return explain(error, request, reply);
    }
  };

  const finish = async (request: FastifyRequest, reply: FastifyReply) => {
    const query = request.url.slice(request.url.indexOf("?") >= 0 ? request.url.indexOf("?") : request.url.length);
    try {
      const { location, setCookies, tokens } = await flow.finish(
        parseCookies(request.headers.cookie),
        query,
        request.headers["user-agent"],
      );
      return await reply.header("set-cookie", [...setCookies, ...cookies.keep(toKept(tokens))]).redirect(location, 302);
    } catch (error) {
      return explain(error, request, reply);
    }
  };
  for (const [paths, handler] of [
    [["/auth/login", "/oidc/authenticate", "/oidc/authenticate/"], logIn],
    [["/auth/callback", "/oidc/callback", "/oidc/callback/"], finish],
  ] as const) {
    paths.forEach((path) => app.get(path, handler));
  }

  const pageAfterLogout = `${publicUrl}/auth/logged-out`;
  // Where the identity service asks the person whether to end the login.
  const endPage = (configuration: openid.Configuration): string =>
    configuration.serverMetadata().end_session_endpoint === undefined
      ? "/auth/logged-out"
      : openid.buildEndSessionUrl(configuration, { post_logout_redirect_uri: pageAfterLogout }).href;

  /** Ends the login at the identity service, and with it at every service. False where only the person can do that there. */
  const endLogin = async (configuration: openid.Configuration, request: FastifyRequest): Promise<boolean> => {
    const { accessToken, refreshToken } = cookies.read(parseCookies(request.headers.cookie));
    forget(accessToken ?? "");
    if (refreshToken === undefined) {
      return false;
    }
    try {
      await openid.tokenRevocation(configuration, refreshToken, { token_type_hint: "refresh_token" });
      return true;
    } catch (error) {
      if (error instanceof openid.ResponseBodyError) {
        // Not a token of the portal's.
        return false;
      }
      throw new Problem(503, "You are logged out here, but the identity service did not answer: log out again.", {
        cause: error,
      });
    }
  };

  // What a link of variant B's portal leads to. A page of another host may lead here, too: then the person is asked.
  const leave = async (request: FastifyRequest, reply: FastifyReply) => {
    void reply.header("set-cookie", [...cookies.clear()]);
    const configuration = await client.configuration();
    const hasEnded = isOwnNavigation(request.headers) && (await endLogin(configuration, request));
    return reply.redirect(hasEnded ? "/auth/logged-out" : endPage(configuration), 302);
  };
  ["/oidc/logout", "/oidc/logout/"].forEach((path) => app.get(path, leave));

  // Tells the page where to go on.
  app.post("/auth/logout", async (request, reply) => {
    requireSameOrigin(request.method, request.headers, publicUrl);
    void reply.header("set-cookie", [...cookies.clear()]);
    const configuration = await client.configuration();
    const hasEnded = await endLogin(configuration, request);
    return reply.send({ location: hasEnded ? "/auth/logged-out" : endPage(configuration) });
  });

  app.get("/auth/logged-out", (_request, reply) => reply.redirect("/?logged-out", 302));
}

/** Why a login came to nothing: people are led to a page with the words, programs get a problem document. */
function explain(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!(error instanceof LoginFailure)) {
    throw error;
  }
  request.log.warn({ why: error.kind, detail: error.message }, "a login was not completed");
  if (request.headers.accept?.includes("text/html") === true) {
    return reply.redirect(`/login-failed?why=${error.kind}`, 302);
  }
  const isUnavailable = error.kind === "unavailable";
  throw new Problem(isUnavailable ? 503 : 400, `The login was not completed: ${error.message}.`, {
    title: isUnavailable ? "A service is down" : "Not logged in",
    cause: error,
    ...(isUnavailable && { headers: { "retry-after": "2" }, extensions: { service: "identity" } }),
  });
}
