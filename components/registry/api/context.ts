import { readBearerToken } from "@swath/auth";
import { Problem, noteActor } from "@swath/service";
import type { FastifyReply, FastifyRequest } from "fastify";

import type { Action } from "../access/actions.ts";
import { authenticate, authenticateToken, readBasic } from "../access/authenticate.ts";
import { type CallerDeps, addressOf } from "../access/caller.ts";
import { ANONYMOUS, type Principal, findRights } from "../access/principal.ts";
import type { Sessions } from "../access/sessions.ts";
import type { BlobStore } from "../blobs/blob-store.ts";
import { isProjectName, isRepositoryName } from "../protocol/names.ts";
import type { ScannerClient } from "../scans/adapter.ts";
import type { RegistryDatabase } from "../store/database.ts";
import { type Project, findProject, findProjectById } from "../store/projects.ts";
import { findRepository } from "../store/repositories.ts";
import type { Upstreams } from "../upstreams/upstreams.ts";

/** What routes of the REST API work with. */
export interface ApiContext {
  readonly database: RegistryDatabase;
  readonly access: CallerDeps;
  readonly sessions: Sessions;
  readonly blobs: BlobStore;
  readonly upstreams: Upstreams;
  readonly scanners: ScannerClient;
}

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 10;

/** Who sends a request; `anonymous` without a login. @throws {RegistryError} UNAUTHORIZED */
export async function findPrincipal(context: ApiContext, request: FastifyRequest): Promise<Principal> {
  const principal = await identify(context, request);
  if (principal.kind !== "anonymous") {
    noteActor(request, { id: `${principal.kind} ${principal.name}`, isAdmin: principal.kind === "admin" });
  }
  return principal;
}

async function identify({ access, sessions }: ApiContext, { raw }: FastifyRequest): Promise<Principal> {
  const { authorization } = raw.headers;
  const login = readBasic(authorization);
  if (login !== undefined) {
    const principal = await authenticate(access, { ...login, address: addressOf(raw) });
    if (principal.kind === "delegate") {
      throw new Problem(403, "These credentials are for pulls by the processing service alone.");
    }
    return principal;
  }
  const token = readBearerToken(authorization);
  return token === undefined ? ((await sessions.find(raw)) ?? ANONYMOUS) : authenticateToken(access, token);
}

/** @throws {Problem} 401 without a login */
export async function requireLogin(context: ApiContext, request: FastifyRequest): Promise<Principal> {
  const principal = await findPrincipal(context, request);
  if (principal.kind === "anonymous") {
    throw new Problem(401, "Log in first: HTTP Basic, or an access token of the identity service.", {
      // A browser would ask for a password by itself, over the console's own page, which takes nothing but JSON.
      ...(request.headers.accept !== "application/json" && {
        headers: { "www-authenticate": 'Basic realm="registry"' },
      }),
    });
  }
  return principal;
}

/** @throws {Problem} 403 for anybody but an administrator */
export async function requireAdmin(context: ApiContext, request: FastifyRequest): Promise<Principal> {
  const principal = await requireLogin(context, request);
  if (principal.kind !== "admin") {
    throw new Problem(403, "Only an administrator of the registry may do this.");
  }
  return principal;
}

export interface ProjectAccess {
  readonly principal: Principal;
  readonly project: Project;
  readonly rights: ReadonlySet<Action>;
}

/**
 * The project that a path names, by name or by number, and what the caller may do there.
 * @throws {Problem} 404 also for one that the caller may not see, 403 without the right
 */
export async function requireProject(
  context: ApiContext,
  request: FastifyRequest,
  action: Action,
): Promise<ProjectAccess> {
  const { project: reference = "" } = request.params as { project?: string };
  const isName = request.headers["x-is-resource-name"] === "true" || !/^\d{1,18}$/.test(reference);
  const project = isName
    ? isProjectName(reference)
      ? await findProject(context.database, reference)
      : undefined
    : await findProjectById(context.database, reference);
  return enterProject(context, request, { project, reference, action });
}

/** The same for a number that stands in a path or a body. @throws {Problem} 404, 403 */
export async function requireProjectById(
  context: ApiContext,
  request: FastifyRequest,
  id: string,
  action: Action,
): Promise<ProjectAccess> {
  const project = /^\d{1,18}$/.test(id) ? await findProjectById(context.database, id) : undefined;
  return enterProject(context, request, { project, reference: id, action });
}

interface Entry {
  readonly project: Project | undefined;
  /** What the caller calls it. */
  readonly reference: string;
  readonly action: Action;
}

async function enterProject(
  context: ApiContext,
  request: FastifyRequest,
  { project, reference, action }: Entry,
): Promise<ProjectAccess> {
  const principal = await findPrincipal(context, request);
  const rights = project === undefined ? new Set<Action>() : await findRights(context.database, principal, project);
  if (project === undefined || rights.size === 0) {
    if (principal.kind === "anonymous") {
      await requireLogin(context, request);
    }
    throw new Problem(404, `The project ${reference.slice(0, 128)} does not exist.`);
  }
  if (!rights.has(action)) {
    await requireLogin(context, request);
    throw new Problem(403, `You do not have the right to ${action} in project ${project.name}.`);
  }
  return { principal, project, rights };
}

export interface RepositoryAccess extends ProjectAccess {
  readonly repositoryId: string;
  /** With the project. */
  readonly repository: string;
}

/** The repository that a path names; its slashes are encoded, once or twice. @throws {Problem} as `requireProject` */
export async function requireRepository(
  context: ApiContext,
  request: FastifyRequest,
  action: Action,
): Promise<RepositoryAccess> {
  const found = await requireProject(context, request, action);
  const { repository: encoded = "" } = request.params as { repository?: string };
  const repository = `${found.project.name}/${encoded.replaceAll(/%2f/gi, "/")}`;
  const row = isRepositoryName(repository) ? await findRepository(context.database, repository) : undefined;
  if (row === undefined) {
    throw new Problem(404, `The repository ${repository.slice(0, 300)} does not exist.`);
  }
  return { ...found, repository, repositoryId: row.id };
}

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** `page` (from 1) and `page_size` (up to 100) of a query. */
export function readPage(request: FastifyRequest): Page {
  const { page = "1", page_size: size = String(DEFAULT_PAGE_SIZE) } = request.query as Record<
    string,
    string | undefined
  >;
  const [number, limit] = [Number(page), Number(size)];
  if (
    !Number.isSafeInteger(number) ||
    number < 1 ||
    !Number.isSafeInteger(limit) ||
    limit < -1 ||
    limit > MAX_PAGE_SIZE
  ) {
    throw new Problem(400, `page must be 1 or more, page_size 1 to ${MAX_PAGE_SIZE}.`);
  }
  const rows = limit < 1 ? MAX_PAGE_SIZE : limit;
  return { offset: (number - 1) * rows, limit: rows };
}

/** The page of a short list that a client asks for; all of it where it asks for none. */
export function pickPage<T>(request: FastifyRequest, reply: FastifyReply, all: readonly T[]): readonly T[] {
  const { page: number, page_size: size } = request.query as Readonly<Record<string, string | undefined>>;
  if (number === undefined && size === undefined) {
    void reply.header("x-total-count", String(all.length));
    return all;
  }
  const page = readPage(request);
  setPageHeaders(request, reply, page, all.length);
  return all.slice(page.offset, page.offset + page.limit);
}

/** Says how many there are in all, and where the next page is. */
export function setPageHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  { offset, limit }: Page,
  total: number,
): void {
  void reply.header("x-total-count", String(total));
  if (offset + limit < total) {
    const url = new URL(request.url, "http://localhost");
    url.searchParams.set("page", String(offset / limit + 2));
    url.searchParams.set("page_size", String(limit));
    void reply.header("link", `<${url.pathname}${url.search}>; rel="next"`);
  }
}
