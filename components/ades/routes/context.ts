import type { Logger } from "@swath/service";
import type { FastifyRequest } from "fastify";
import type { Kysely } from "kysely";

import type { AdesSettings } from "../execution/storage.ts";
import type { Tables } from "../store/tables.ts";

/** The two faces of the service: the earlier `wps3` and the standard's `ogc-api`. */
export type Face = "wps3" | "ogc-api";

export interface ApiContext {
  readonly db: Kysely<Tables>;
  readonly settings: AdesSettings;
  readonly logger: Logger;
  readonly guard: (request: FastifyRequest) => Promise<void>;
  /** Resolves when a job has ended. */
  readonly untilEnded: (id: string, signal: AbortSignal) => Promise<void>;
}

export interface Space {
  readonly user: string;
  readonly face: Face;
  /** `/eric/wps3`: what links begin with. */
  readonly base: string;
}

/** Whose space a request is in, and by which face. */
export function spaceOf(request: FastifyRequest, face: Face): Space {
  const { user } = request.params as { user: string };
  return { user, face, base: `/${user}/${face}` };
}

export const link = (href: string, rel: string, title: string, type = "application/json") => ({
  href,
  rel,
  type,
  title,
});
