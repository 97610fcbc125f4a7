import type { Caller } from "@swath/auth";
import type { FastifyRequest } from "fastify";

import type { Reader, WorkspaceRole } from "./reader.ts";

/** Says which workspaces a user is a member of. */
export type FindMemberships = (user: NonNullable<Caller["user"]>) => Promise<ReadonlyMap<string, WorkspaceRole>>;

interface ReadersOptions {
  readonly callerOf: (request: FastifyRequest) => Promise<Caller>;
  /** Left out where the deployment has no workspaces. */
  readonly findMemberships?: FindMemberships;
  /** Name of the service's host before the domain, and the domain: `<service>.<workspace>.<domain>` is a workspace's. */
  readonly service: string;
  readonly domain?: string;
}

const NONE: ReadonlyMap<string, WorkspaceRole> = new Map();

/** Makes what the store needs to know of who asks, of a request. */
export function createReaderOf(options: ReadersOptions): (request: FastifyRequest) => Promise<Reader> {
  const { callerOf, findMemberships, service, domain } = options;
  const workspaceHost =
    domain === undefined ? undefined : new RegExp(`^${escape(service)}\\.([a-z0-9-]+)\\.${escape(domain)}$`, "i");
  return async (request) => {
    const only = workspaceHost?.exec(request.hostname)?.[1]?.toLowerCase();
    const { isAdmin, user } = await callerOf(request);
    const workspaces =
      user === undefined || isAdmin || findMemberships === undefined ? NONE : await findMemberships(user);
    return { isOperator: isAdmin, workspaces, ...(only !== undefined && { only }) };
  };
}

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
