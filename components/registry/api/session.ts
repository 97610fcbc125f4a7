import { parseCookies } from "@swath/auth";
import { LoginFailure, type LoginFailureKind, type OidcClient, createLoginFlow } from "@swath/auth/login";
import { type Logger, Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply } from "fastify";
import { type Static, Type } from "typebox";

import { ADMIN_NAME, authenticate, authenticateToken } from "../access/authenticate.ts";
import { addressOf } from "../access/caller.ts";
import { digestSecret, isSecret } from "../access/secrets.ts";
import { RegistryError } from "../errors.ts";
import { findAccount } from "../store/accounts.ts";
import { type ApiContext, findPrincipal } from "./context.ts";

interface SessionOptions {
  readonly context: ApiContext;
  /** Left out where no identity service can send people back here. */
  readonly client: OidcClient | undefined;
  readonly logger: Logger;
}

const SignIn = Type.Object({ user: Type.String({ maxLength: 256 }), password: Type.String({ maxLength: 16_384 }) });
const CALLBACK = "/api/login/callback";
const MAX_PATH_CHARACTERS = 2000;

/** Signing in to the console: as administrator, with a user's secret for command lines, or with the platform's login. */
export function addSessionRoutes(app: FastifyInstance, { context, client, logger }: SessionOptions): void {
  const { access, database, sessions } = context;
  app.get("/api/sign-in", () => ({ platform: client !== undefined }));

  app.get("/api/session", async (request) => {
    const { kind, name } = await toProblemOf(findPrincipal(context, request));
    if (kind === "anonymous") {
      throw new Problem(401, "Nobody is signed in: POST /api/session.");
    }
    const account = await findAccount(database, name);
    return {
      user: name,
      isAdmin: kind === "admin",
      host: new URL(access.publicUrl).host,
      secretCreated: account?.secretCreatedAt?.toISOString() ?? null,
      canHaveSecret: account !== undefined,
    };
  });

  app.post("/api/session", { schema: { body: SignIn } }, async ({ body, raw }, reply) => {
    const { user, password } = body as Static<typeof SignIn>;
    const { kind, name } = await toProblemOf(authenticate(access, { user, password, address: addressOf(raw) }));
    const isByPassword = user === ADMIN_NAME && isSecret(password, digestSecret(access.adminPassword));
    const account = isByPassword ? undefined : await findAccount(database, name);
    if (kind === "robot" || (account === undefined && !isByPassword)) {
      throw new Problem(403, "Robots work without the console; sign in as yourself.");
    }
    const isByToken =
      account !== undefined && (account.secretDigest === undefined || !isSecret(password, account.secretDigest));
    const cookie =
      account === undefined
        ? await sessions.openForAdmin()
        : await sessions.openForAccount(account, isByToken ? "login" : "secret");
    return reply
      .header("set-cookie", cookie)
      .code(201)
      .send({ user: name, isAdmin: kind === "admin" });
  });

  app.delete("/api/session", async (request, reply) =>
    reply
      .header("set-cookie", await sessions.close(request.raw))
      .code(204)
      .send(),
  );

  if (client !== undefined) {
    addLogin(app, context, client, logger);
  }
}

function addLogin(
  app: FastifyInstance,
  { access, database, sessions }: ApiContext,
  client: OidcClient,
  logger: Logger,
) {
  const publicUrl = access.publicUrl.replace(/\/+$/, "");
  const flow = createLoginFlow({
    client,
    publicUrl,
    callbackPath: CALLBACK,
    cookiePrefix: "registry_login_",
    readReturnPath: toOwnPath,
  });
  const fail = (reply: FastifyReply, why: LoginFailureKind) => reply.redirect(`/sign-in?failed=${why}`, 303);

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
      const { location, setCookies, tokens } = await flow.finish(parseCookies(request.headers.cookie), search);
      const { name } = await authenticateToken(access, tokens.accessToken);
      const account = await findAccount(database, name);
      if (account === undefined) {
        throw new Error(`the account of ${name} was not kept`);
      }
      const cookie = await sessions.openForAccount(account, "login");
      return await reply.header("set-cookie", [...setCookies, cookie]).redirect(location, 303);
    } catch (cause) {
      logger.warn({ err: cause }, "a login could not be completed");
      const isRefused = cause instanceof RegistryError && cause.code === "UNAUTHORIZED";
      return fail(reply, cause instanceof LoginFailure ? cause.kind : isRefused ? "refused" : "unavailable");
    }
  });
}

/** A page of this console; addresses of others are not followed. */
function toOwnPath(to: string | undefined): string {
  return to !== undefined && to.length <= MAX_PATH_CHARACTERS && /^\/(?![/\\])[\x21-\x7e]*$/.test(to) ? to : "/";
}

async function toProblemOf<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof RegistryError)) {
      throw error;
    }
    // Without its challenge, which a browser would answer by itself.
    const { "www-authenticate": _, ...headers } = error.headers;
    throw new Problem(error.status, error.message, { headers, cause: error });
  }
}
