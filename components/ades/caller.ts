import { IssuerUnavailableError, TokenError, type TokenVerifier, readBearerToken } from "@swath/auth";
import { Problem } from "@swath/service";
import type { FastifyRequest } from "fastify";

interface GuardOptions {
  /** Left out where the deployment has no identity service. */
  readonly verifier?: TokenVerifier;
  readonly adminUser: string;
  /** Requests without a token may use every space, everywhere … */
  readonly isOpen: boolean;
  /** … or on this host. */
  readonly openHost?: string;
}

/**
 * Lets a request into a user's space: with a token of that user or of the administrator.
 * @throws {Problem} 401, 403, 503
 */
export function createGuard({ verifier, adminUser, isOpen, openHost }: GuardOptions) {
  return async (request: FastifyRequest): Promise<void> => {
    const { user } = request.params as { user: string };
    const token = readBearerToken(request.headers.authorization);
    if (token === undefined || verifier === undefined) {
      if (isOpen || (openHost !== undefined && request.hostname.toLowerCase() === openHost)) {
        return;
      }
      throw new Problem(401, "This request has no access token; send one as Authorization: Bearer <token>.", {
        headers: { "www-authenticate": 'Bearer realm="ades"' },
      });
    }
    try {
      const { username, realmRoles } = (await verifier.verify(token)).identity;
      if (username !== user && username !== adminUser && !realmRoles.includes("admin")) {
        throw new Problem(403, `This is the space of ${user}; the token is of ${username ?? "nobody with a name"}.`);
      }
    } catch (error) {
      if (error instanceof TokenError) {
        throw new Problem(401, `The access token is not accepted: ${error.message}.`, {
          headers: { "www-authenticate": 'Bearer realm="ades", error="invalid_token"' },
        });
      }
      if (error instanceof IssuerUnavailableError) {
        throw new Problem(503, "The identity service does not answer; try again in a moment.", { cause: error });
      }
      throw error;
    }
  };
}
