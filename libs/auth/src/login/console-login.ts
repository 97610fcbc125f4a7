import type { Logger } from "@swath/service";
import type { FastifyInstance, FastifyReply } from "fastify";

import { parseCookies } from "../cookies.ts";
import type { EndedLogin, LogoutTokenVerifier } from "../logout-token.ts";
import { addBackChannelLogout } from "./back-channel-logout.ts";
import { LoginFailure } from "./login-failure.ts";
import { createLoginFlow } from "./login-flow.ts";
import type { OidcClient } from "./oidc-client.ts";

interface ConsoleLoginOptions {
  readonly client: OidcClient;
  /** Base URL of the console, without a slash at the end. */
  readonly publicUrl: string;
  /** How the cookies of pending logins begin. */
  readonly cookiePrefix: string;
  readonly logger: Logger;
  /** Opens the console's own session for the bearer of this token: sets its cookie. `sessionId` is the issuer's. */
  readonly openSession: (reply: FastifyReply, accessToken: string, sessionId: string | undefined) => Promise<void>;
  /** Ends the console's sessions of a login that has ended at the issuer. */
  readonly endSessions: (ended: EndedLogin) => Promise<unknown>;
  readonly logoutTokens: LogoutTokenVerifier;
  /** The word for an error of `openSession` that the sign-in page explains (`refused`, `no-role`); undefined for other errors. */
  readonly findReason: (cause: unknown) => string | undefined;
}

const CALLBACK = "/api/login/callback";
const BACK_CHANNEL = "/api/login/back-channel";
const MAX_PATH_CHARACTERS = 2000;

/**
 * `GET /api/login?to=…` and its callback: logging in to a console with the platform's login. Failures end at `/sign-in?failed=…`.
 * Beside it, where the issuer tells of logouts.
 */
export function addConsoleLogin(app: FastifyInstance, options: ConsoleLoginOptions): void {
  const { client, publicUrl, cookiePrefix, logger, openSession, findReason } = options;
  const flow = createLoginFlow({
    client,
    publicUrl,
    callbackPath: CALLBACK,
    cookiePrefix,
    readReturnPath: toOwnPath,
  });
  addBackChannelLogout(app, {
    path: BACK_CHANNEL,
    verifier: options.logoutTokens,
    endSessions: options.endSessions,
    logger,
  });
  const fail = (reply: FastifyReply, reason: string) => reply.redirect(`/sign-in?failed=${reason}`, 303);

  app.get<{ Querystring: { to?: string } }>("/api/login", async ({ query: { to }, headers }, reply) => {
    try {
      const { location, setCookies } = await flow.start(
        parseCookies(headers.cookie),
        typeof to === "string" ? to : undefined,
      );
      return await reply.header("set-cookie", [...setCookies]).redirect(location, 303);
    } catch (error) {
      logger.warn({ err: error }, "the identity service does not answer");
      return fail(reply, "unavailable");
    }
  });

  app.get(CALLBACK, async (request, reply) => {
    const { search } = new URL(request.url, publicUrl);
    try {
      const { location, setCookies, tokens } = await flow.finish(
        parseCookies(request.headers.cookie),
        search,
        request.headers["user-agent"],
      );
      void reply.header("set-cookie", [...setCookies]);
      await openSession(reply, tokens.accessToken, tokens.sessionId);
      return await reply.redirect(location, 303);
    } catch (cause) {
      logger.warn({ err: cause }, "a login could not be completed");
      return fail(reply, cause instanceof LoginFailure ? cause.kind : (findReason(cause) ?? "unavailable"));
    }
  });
}

/** A page of this console; addresses of others are not followed. */
function toOwnPath(to: string | undefined): string {
  return to !== undefined && to.length <= MAX_PATH_CHARACTERS && /^\/(?![/\\])[\x21-\x7e]*$/.test(to) ? to : "/";
}
