import type { Logger } from "@swath/service";
import type { CallerPlaces, CallerRate } from "@swath/service/caller-limits";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Kysely } from "kysely";

import type { AdesSettings, UserStorage } from "../execution/storage.ts";
import type { PackageReader } from "../packages/package-reader.ts";
import type { Tables } from "../store/tables.ts";
import type { FindPlace } from "./result-place.ts";

/** The two faces of the service: the earlier `wps3` and the standard's `ogc-api`. */
export type ApiFlavor = "wps3" | "ogc-api";

export interface ApiContext {
  readonly db: Kysely<Tables>;
  readonly settings: AdesSettings;
  readonly logger: Logger;
  readonly guard: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** Packages that are deployed or replaced, by the user in whose space. */
  readonly deployments: CallerRate;
  /** Streams of events that are open. */
  readonly streams: CallerPlaces;
  /** Reads packages off the event loop. */
  readonly packages: PackageReader;
  /** Resolves when a job has ended. */
  readonly untilEnded: (id: string, signal: AbortSignal) => Promise<void>;
  /** Where a user's results go, and the user's inputs may be. */
  readonly storageOf: (user: string) => Promise<UserStorage>;
  readonly findPlace: FindPlace;
  /** Aborted when the service is about to end: streams must end too. */
  readonly closing: AbortSignal;
}

/** Whether clients of the earlier release line are expected. */
export const isEarlierLine = ({ settings }: Pick<ApiContext, "settings">): boolean => settings.EARLIER_LINE === "true";

/** The space of a user, by one face. */
export interface Place {
  readonly user: string;
  readonly apiFlavor: ApiFlavor;
  /** `/eric/wps3`: what `Location` begins with. */
  readonly base: string;
}

export interface ApiBase extends Place {
  /** `https://ades.example.org/eric/wps3`: what links begin with. */
  readonly url: string;
}

/** Whose space a request is in, and by which face. */
export function apiPathOf(request: FastifyRequest, apiFlavor: ApiFlavor): Place {
  const { user } = request.params as { user: string };
  return { user, apiFlavor, base: `/${encodeURIComponent(user)}/${apiFlavor}` };
}

/** The same with what links begin with. */
export function resolveApiBase({ settings }: ApiContext, request: FastifyRequest, apiFlavor: ApiFlavor): ApiBase {
  const place = apiPathOf(request, apiFlavor);
  return { ...place, url: `${originOf(settings, request)}${place.base}` };
}

/** What `Location` begins with: the whole address, and as the earlier face has always said it a path. */
export const locationOf = ({ apiFlavor, url, base }: ApiBase): string => (apiFlavor === "ogc-api" ? url : base);

/** A space seen from outside any request: what subscribers are sent. */
export function publicApiBase(settings: AdesSettings, user: string): ApiBase {
  const base = `/${encodeURIComponent(user)}/ogc-api`;
  return { user, apiFlavor: "ogc-api", base, url: `${new URL(settings.PUBLIC_URL).origin}${base}` };
}

/** Links lead to where the request came in, never to a host that only its sender names. */
function originOf({ PUBLIC_URL, OPEN_HOST }: AdesSettings, request: FastifyRequest): string {
  return OPEN_HOST !== undefined && request.hostname.toLowerCase() === OPEN_HOST.toLowerCase()
    ? `${request.protocol}://${request.host}`
    : new URL(PUBLIC_URL).origin;
}

/** A link (OGC 18-062r2 §7.5; RFC 8288). */
export interface Link {
  readonly href: string;
  readonly rel: string;
  readonly type: string;
  readonly title: string;
}

export const link = (href: string, rel: string, title: string, type = "application/json"): Link => ({
  href,
  rel,
  type,
  title,
});

/** Relations that OGC has registered. */
export const OGC_REL = {
  conformance: "http://www.opengis.net/def/rel/ogc/1.0/conformance",
  processes: "http://www.opengis.net/def/rel/ogc/1.0/processes",
  jobs: "http://www.opengis.net/def/rel/ogc/1.0/job-list",
  execute: "http://www.opengis.net/def/rel/ogc/1.0/execute",
  results: "http://www.opengis.net/def/rel/ogc/1.0/results",
  exceptions: "http://www.opengis.net/def/rel/ogc/1.0/exceptions",
  log: "http://www.opengis.net/def/rel/ogc/1.0/log",
} as const;

/** The process of a package that was checked when it was deployed, as the reader of packages is asked for it. */
export const packageOf = (process: {
  readonly id: string;
  readonly package: string;
  readonly entry: string | null;
}): { readonly text: string; readonly process: string } => ({
  text: process.package,
  process: process.entry ?? process.id,
});
