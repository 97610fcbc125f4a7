import type { Caller } from "@swath/auth";
import type { FastifyRequest } from "fastify";

import type { InternalCaller } from "./internal-port.ts";
import { OPERATOR, type Reader, type WorkspaceRole } from "./reader.ts";

/** Says which workspaces a user is a member of. */
export type FindMemberships = (user: NonNullable<Caller["user"]>) => Promise<ReadonlyMap<string, WorkspaceRole>>;
/** Says which workspaces are a user's own, by the user's name. */
export type FindOwned = (username: string) => Promise<ReadonlyMap<string, WorkspaceRole>>;

interface ReadersOptions {
  /** Which service of the deployment asks, on the internal port. */
  readonly internalCallerOf?: (request: FastifyRequest["raw"]) => InternalCaller | undefined;
  readonly callerOf: (request: FastifyRequest) => Promise<Caller>;
  /** Whether people can log in at all: without that nobody owns anything. */
  readonly hasLogins: boolean;
  /** Left out where the deployment has no workspaces. */
  readonly findMemberships?: FindMemberships;
  readonly findOwned?: FindOwned;
  /** Name of the service's host before the domain, and the domain: `<service>.<workspace>.<domain>` is a workspace's. */
  readonly service: string;
  readonly domain?: string;
}

const NONE: ReadonlyMap<string, WorkspaceRole> = new Map();

/** Makes what the store needs to know of who asks, of a request. */
export function createReaderOf(options: ReadersOptions): (request: FastifyRequest) => Promise<Reader> {
  const { callerOf, hasLogins, findMemberships, findOwned, service, domain, internalCallerOf } = options;
  const workspaceHost =
    domain === undefined ? undefined : new RegExp(`^${escape(service)}\\.([a-z0-9-]+)\\.${escape(domain)}$`, "i");
  return async (request) => {
    const only = workspaceHost?.exec(request.hostname)?.[1]?.toLowerCase();
    const here = only !== undefined && { only };
    const internal = internalCallerOf?.(request.raw);
    if (internal === "operator") {
      return { ...OPERATOR, isService: true, user: "services", ...here };
    }
    if (internal !== undefined) {
      return { isOperator: false, workspaces: (await findOwned?.(internal.username)) ?? NONE, ...here };
    }
    const { isAdmin, user } = await callerOf(request);
    const workspaces =
      user === undefined || isAdmin || findMemberships === undefined ? NONE : await findMemberships(user);
    // Where no login is needed, nobody in particular is an operator.
    const anonymous = hasLogins && isAdmin && user === undefined && ({ isAnonymous: true } as const);
    return { isOperator: isAdmin, workspaces, ...(user !== undefined && { user: user.id }), ...anonymous, ...here };
  };
}

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
