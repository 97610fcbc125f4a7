import type { IncomingMessage } from "node:http";

import { readBearerToken } from "@swath/auth";

import { RegistryError } from "../errors.ts";
import { projectOf } from "../protocol/names.ts";
import type { Project } from "../store/projects.ts";
import type { Action } from "./actions.ts";
import {
  type AuthenticateDeps,
  authenticate,
  authenticateToken,
  findSubject,
  readBasic,
  toSubject,
} from "./authenticate.ts";
import { ANONYMOUS, type Principal, type ProjectOfRights, findRights } from "./principal.ts";
import type { RefreshTokens } from "./refresh-tokens.ts";
import type { RegistryToken, RegistryTokens } from "./tokens.ts";

/** Who relies on a blob: by the token, and by whose it is. */
export interface Holder {
  readonly token: string;
  readonly subject: string;
}

/** Who sends a request to the distribution API. */
export interface Caller {
  /** For people: the audit log and who pushed what. */
  readonly name: string;
  /** Names one push, as pins do. */
  readonly holder: Holder;
  readonly isAnonymous: boolean;
  /** Pulls for processing, which policies of projects hold for. */
  readonly isDelegate: boolean;
  /** Whether one of the actions is allowed on a repository. */
  readonly can: (repository: string, ...anyOf: readonly Action[]) => Promise<boolean>;
  /** @throws {RegistryError} UNAUTHORIZED with a challenge, DENIED */
  readonly require: (repository: string, ...anyOf: readonly Action[]) => Promise<void>;
  /** The same for a repository whose project was just read; undefined where it was not. */
  readonly requireIn: (
    project: ProjectOfRights | undefined,
    repository: string,
    ...anyOf: readonly Action[]
  ) => Promise<void>;
  /** The right to push, perhaps with a blob of another repository: then the challenge asks for both. */
  readonly requirePush: (repository: string, mountFrom?: string) => Promise<void>;
  /** An error that asks for a token with more in it, where another token could help. */
  readonly callFor?: (scopes: string) => RegistryError;
  /** What may be listed; undefined without the right. */
  readonly principal: () => Promise<Principal | undefined>;
}

export interface CallerDeps extends AuthenticateDeps {
  readonly tokens: RegistryTokens;
  readonly refreshTokens: RefreshTokens;
  readonly findProject: (name: string) => Promise<Project | undefined>;
  /** `https://registry.example.org` */
  readonly publicUrl: string;
}

/** The address that the ingress saw; it adds it at the end of what others claim. */
export function addressOf(message: IncomingMessage): string {
  const forwarded = message.headers["x-forwarded-for"];
  const last = (Array.isArray(forwarded) ? forwarded.join(",") : forwarded)?.split(",").at(-1)?.trim();
  return last ?? message.socket.remoteAddress ?? "";
}

/** @throws {RegistryError} UNAUTHORIZED for a login or token that is wrong */
export async function findCaller(deps: CallerDeps, message: IncomingMessage): Promise<Caller> {
  const { authorization } = message.headers;
  const login = readBasic(authorization);
  if (login !== undefined) {
    const principal = await authenticate(deps, { ...login, address: addressOf(message) }).catch((error: unknown) => {
      throw challenged(deps, error);
    });
    return createPrincipalCaller(deps, principal);
  }
  const bearer = readBearerToken(authorization);
  if (bearer === undefined) {
    return createPrincipalCaller(deps, ANONYMOUS);
  }
  const token = deps.tokens.recall(bearer) ?? (await deps.tokens.verify(bearer));
  if (token === "expired") {
    return createTokenCaller(deps, NO_TOKEN, {
      error: "invalid_token",
      message: "The token has expired; ask for a new one.",
    });
  }
  if (token !== undefined) {
    const { message } = isAnonymousToken(token) ? LOG_IN : NO_RIGHT;
    return createTokenCaller(deps, token, { message, error: "insufficient_scope" });
  }
  const principal = await authenticateToken(deps, bearer).catch((error: unknown) => {
    throw challenged(deps, error);
  });
  return createPrincipalCaller(deps, principal);
}

function createPrincipalCaller(deps: CallerDeps, principal: Principal): Caller {
  const isAnonymous = principal.kind === "anonymous";
  const canIn = async (known: ProjectOfRights | undefined, repository: string, ...anyOf: readonly Action[]) => {
    const project = known ?? (await deps.findProject(projectOf(repository)));
    if (project === undefined) {
      // The administrator is told that the project does not exist; others cannot tell it from one that is not theirs.
      return principal.kind === "admin";
    }
    const rights = await findRights(deps.sql, principal, project);
    return anyOf.some((action) => rights.has(action));
  };
  const requireIn: Caller["requireIn"] = async (known, repository, ...anyOf) => {
    if (!(await canIn(known, repository, ...anyOf))) {
      throw isAnonymous ? createChallenge(deps, repository, anyOf, LOG_IN) : denied(repository, anyOf);
    }
  };
  return {
    name: principal.name,
    holder: { token: toSubject(principal), subject: toSubject(principal) },
    isAnonymous,
    isDelegate: principal.kind === "delegate",
    can: (repository, ...anyOf) => canIn(undefined, repository, ...anyOf),
    require: (repository, ...anyOf) => requireIn(undefined, repository, ...anyOf),
    requireIn,
    requirePush: async (repository, mountFrom) => {
      if (isAnonymous) {
        throw createChallenge(deps, repository, ["push"], LOG_IN, mountFrom);
      }
      await requireIn(undefined, repository, "push");
    },
    principal: async () => principal,
  };
}

/** Stands for an expired token: it allows nothing, and the challenge asks for a new one of the same scope (RFC 6750 §3.1). */
const NO_TOKEN: RegistryToken = { id: "", subject: toSubject(ANONYMOUS), access: [], expires: 0 };

interface Refusal {
  readonly message: string;
  /** RFC 6750 §3.1; none where no token was shown. */
  readonly error?: "invalid_token" | "insufficient_scope";
}

/** Of a login: its token has what it was asked for and the login may do. */
const NO_RIGHT: Refusal = {
  message:
    "This login does not have the right to do this, or its token was not asked for it; an administrator of the project can give the right.",
};
const isAnonymousToken = ({ subject }: RegistryToken): boolean => subject === toSubject(ANONYMOUS);
const LOG_IN: Refusal = { message: "Authentication is required; log in to the registry." };

function createTokenCaller(deps: CallerDeps, token: RegistryToken, refusal: Refusal): Caller {
  const isAnonymous = isAnonymousToken(token);
  const canIn = async (known: ProjectOfRights | undefined, repository: string, ...anyOf: readonly Action[]) => {
    const isGranted = token.access.some(
      ({ type, name, actions }) =>
        type === "repository" && name === repository && anyOf.some((action) => actions.includes(action)),
    );
    if (isGranted || !anyOf.includes("pull")) {
      return isGranted;
    }
    return (known ?? (await deps.findProject(projectOf(repository))))?.isPublic === true;
  };
  const requireIn: Caller["requireIn"] = async (known, repository, ...anyOf) => {
    if (!(await canIn(known, repository, ...anyOf))) {
      throw createChallenge(deps, repository, anyOf, refusal);
    }
  };
  return {
    name: token.subject.slice(token.subject.indexOf(":") + 1),
    holder: { token: token.id, subject: token.subject },
    isAnonymous,
    isDelegate: token.subject.startsWith("delegate:"),
    can: (repository, ...anyOf) => canIn(undefined, repository, ...anyOf),
    require: (repository, ...anyOf) => requireIn(undefined, repository, ...anyOf),
    requireIn,
    requirePush: async (repository, mountFrom) => {
      if (!(await canIn(undefined, repository, "push"))) {
        throw createChallenge(deps, repository, ["push"], refusal, mountFrom);
      }
    },
    callFor: (scopes) =>
      new RegistryError("UNAUTHORIZED", "The token does not allow this; ask for one with both scopes.", {
        headers: toChallenge(deps, scopes, refusal.error),
      }),
    principal: () => findSubject(deps, token.subject),
  };
}

/** The field that tells clients where to get a token (RFC 6750 §3, token authentication of the registry). */
function toChallenge({ publicUrl }: CallerDeps, scope?: string, error?: string): Readonly<Record<string, string>> {
  const parts = [
    `realm="${publicUrl}/service/token"`,
    `service="${new URL(publicUrl).host}"`,
    ...(scope === undefined ? [] : [`scope="${scope}"`]),
    ...(error === undefined ? [] : [`error="${error}"`]),
  ];
  return { "www-authenticate": `Bearer ${parts.join(",")}` };
}

/** 401 with what has to be asked for; also where a token lacks it, so that clients fetch a better one. */
function createChallenge(
  deps: CallerDeps,
  repository: string,
  actions: readonly Action[],
  refusal: Refusal,
  mountFrom?: string,
): RegistryError {
  const first = actions[0] ?? "pull";
  const scope = `repository:${repository}:${first === "push" ? "pull,push" : first}`;
  const scopes = mountFrom === undefined ? scope : `${scope} repository:${mountFrom}:pull`;
  return new RegistryError("UNAUTHORIZED", refusal.message, {
    headers: toChallenge(deps, scopes, refusal.error),
    detail: [{ Type: "repository", Name: repository, Action: first }],
  });
}

/** 401 without a scope: for `/v2/` itself. */
export function createLoginChallenge(deps: CallerDeps): RegistryError {
  return new RegistryError("UNAUTHORIZED", LOG_IN.message, {
    headers: toChallenge(deps),
  });
}

function challenged(deps: CallerDeps, error: unknown): unknown {
  return error instanceof RegistryError && error.code === "UNAUTHORIZED"
    ? new RegistryError("UNAUTHORIZED", error.message, { headers: toChallenge(deps), cause: error })
    : error;
}

function denied(repository: string, actions: readonly Action[]): RegistryError {
  return new RegistryError(
    "DENIED",
    `You do not have the right to ${actions[0]} in the project of ${repository}; ask one of its administrators.`,
  );
}
