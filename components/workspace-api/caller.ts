import { IssuerUnavailableError, TokenError, type TokenVerifier, readBearerToken } from "@swath/auth";
import { Problem } from "@swath/service";
import type { FastifyRequest } from "fastify";

import { namesOf } from "./store/workspaces.ts";
import type { Role } from "./store/tables.ts";
import type { Workspace } from "./store/workspaces.ts";

/** Who asks. */
export interface Caller {
  readonly isAdmin: boolean;
  /** Left out for a request without a token, where that is allowed. */
  readonly user?: { readonly id: string; readonly username?: string };
  /** The verified token, to ask the identity service in the caller's name. */
  readonly token?: string;
}

interface CallerOptions {
  /** Left out where the deployment has no identity service. */
  readonly verifier?: TokenVerifier;
  readonly adminUser: string;
  /** Requests without a token act for the administrator, everywhere … */
  readonly isOpen: boolean;
  /** … or on this host. */
  readonly openHost?: string;
}

/** Finds out who asks. @throws {Problem} 401 without a valid token where one is needed, 503 when nobody can say now */
export function createCallerOf(options: CallerOptions): (request: FastifyRequest) => Promise<Caller> {
  const { verifier, adminUser, isOpen, openHost } = options;
  return async (request) => {
    const token = readBearerToken(request.headers.authorization);
    if (token === undefined) {
      if (isOpen || (openHost !== undefined && request.hostname.toLowerCase() === openHost)) {
        return { isAdmin: true };
      }
      throw unauthorized("This request has no access token; send one as Authorization: Bearer <token>.");
    }
    if (verifier === undefined) {
      throw unauthorized("This deployment has no identity service that could verify a token; leave it out.");
    }
    try {
      const { identity } = await verifier.verify(token);
      const { userId: id, username, realmRoles } = identity;
      return {
        isAdmin: username === adminUser || realmRoles.includes("admin"),
        user: { id, ...(username !== undefined && { username }) },
        token,
      };
    } catch (error) {
      if (error instanceof TokenError) {
        throw unauthorized(`The access token is not accepted: ${error.message}.`);
      }
      if (error instanceof IssuerUnavailableError) {
        throw new Problem(503, "The identity service does not answer; try again in a moment.", {
          cause: error,
          headers: { "retry-after": "2" },
        });
      }
      throw error;
    }
  };
}

/** What a caller is in a workspace; `undefined` for a stranger. */
export function roleIn({ isAdmin, user }: Caller, { members }: Workspace): Role | undefined {
  if (isAdmin) {
    return "owner";
  }
  if (user === undefined) {
    return undefined;
  }
  const names = namesOf(user);
  return members.find(({ userId, username }) => (userId === null ? names.includes(username) : userId === user.id))
    ?.role;
}

function unauthorized(detail: string): Problem {
  return new Problem(401, detail, { headers: { "www-authenticate": 'Bearer realm="workspace-api"' } });
}
