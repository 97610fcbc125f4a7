import type { Logger } from "@swath/service";
import type { FastifyInstance } from "fastify";

import type { EndedLogin, LogoutTokenVerifier } from "../logout-token.ts";
import { IssuerUnavailableError, TokenError } from "../token-error.ts";

interface BackChannelLogoutOptions {
  readonly path: string;
  readonly verifier: LogoutTokenVerifier;
  /** Ends the own sessions of a login. */
  readonly endSessions: (ended: EndedLogin) => Promise<unknown>;
  readonly logger: Logger;
}

const MAX_FORM_BYTES = 32_768;

/** Where the issuer tells of logouts (OpenID Connect Back-Channel Logout 1.0 §2.5 to §2.8): `POST`, a form with `logout_token`. */
export function addBackChannelLogout(app: FastifyInstance, options: BackChannelLogoutOptions): void {
  const { path, verifier, endSessions, logger } = options;
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: MAX_FORM_BYTES },
      (_request, body, done) => done(null, new URLSearchParams(body.toString())),
    );
    scope.post(path, { schema: { hide: true } as object }, async (request, reply) => {
      void reply.header("cache-control", "no-store");
      const refuse = (description: string) =>
        reply.code(400).send({ error: "invalid_request", error_description: description });
      const tokens = request.body instanceof URLSearchParams ? request.body.getAll("logout_token") : [];
      const [token] = tokens;
      if (token === undefined || tokens.length > 1) {
        return refuse("one logout_token is required, in a form");
      }
      try {
        await verifier.accept(token, endSessions);
        return await reply.code(200).send();
      } catch (error) {
        if (error instanceof TokenError) {
          logger.warn({ err: error }, "a logout token was refused");
          return refuse(error.message);
        }
        if (error instanceof IssuerUnavailableError) {
          // The issuer tries again.
          return reply.code(503).header("retry-after", "2").send({ error: "temporarily_unavailable" });
        }
        throw error;
      }
    });
  });
}
