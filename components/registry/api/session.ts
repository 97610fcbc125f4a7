import type { LogoutTokenVerifier } from "@swath/auth";
import { type OidcClient, addConsoleLogin } from "@swath/auth/login";
import { type Logger, Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import { authenticate, authenticateToken, isAdminLogin } from "../access/authenticate.ts";
import { addressOf } from "../access/caller.ts";
import { isSecret } from "../access/secrets.ts";
import { RegistryError } from "../errors.ts";
import { findAccount } from "../store/accounts.ts";
import { type ApiContext, findPrincipal } from "./context.ts";

interface SessionOptions {
  readonly context: ApiContext;
  /** Left out where no identity service can send people back here. */
  readonly client: OidcClient | undefined;
  readonly logoutTokens: LogoutTokenVerifier | undefined;
  readonly logger: Logger;
}

const SignIn = Type.Object({ user: Type.String({ maxLength: 256 }), password: Type.String({ maxLength: 16_384 }) });

/** Logging in to the console: as administrator, with a user's secret for command lines, or with the platform's login. */
export function addSessionRoutes(
  app: FastifyInstance,
  { context, client, logoutTokens, logger }: SessionOptions,
): void {
  const { access, database, sessions } = context;
  app.get("/api/sign-in", () => ({ platform: client !== undefined }));

  app.get("/api/session", async (request) => {
    const { kind, name } = await toProblemOf(findPrincipal(context, request));
    if (kind === "anonymous") {
      throw new Problem(401, "Nobody is logged in: POST /api/session.");
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
    const isByPassword = isAdminLogin(access, user, password);
    const account = isByPassword ? undefined : await findAccount(database, name);
    if (kind === "robot" || (account === undefined && !isByPassword)) {
      throw new Problem(403, "Robots work without the console; log in as yourself.");
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

  if (client !== undefined && logoutTokens !== undefined) {
    addConsoleLogin(app, {
      client,
      publicUrl: access.publicUrl.replace(/\/+$/, ""),
      cookiePrefix: "registry_login_",
      logger,
      logoutTokens,
      endSessions: sessions.endLogin,
      openSession: async (reply, accessToken, sessionId) => {
        const { name } = await authenticateToken(access, accessToken);
        const account = await findAccount(database, name);
        if (account === undefined) {
          throw new Error(`the account of ${name} was not kept`);
        }
        void reply.header(
          "set-cookie",
          await sessions.openForAccount(account, "login", { sessionId, userId: account.userId }),
        );
      },
      findReason: (cause) => (cause instanceof RegistryError && cause.code === "UNAUTHORIZED" ? "refused" : undefined),
    });
  }
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
