import { parseCookies } from "@swath/auth";
import { LoginFailure, type LoginFailureKind, type OidcClient, createLoginFlow } from "@swath/auth/login";
import type { Logger } from "@swath/service";
import type { FastifyInstance, FastifyReply } from "fastify";

import { S3Error } from "../errors.ts";

interface PlatformLoginDeps {
  readonly client: OidcClient;
  /** `https://objstore-console.example.org`, no slash at the end. */
  readonly consoleUrl: string;
  readonly logger: Logger;
  /** Signs somebody in who holds this access token. @throws {S3Error} when no role fits it, or it is not valid */
  readonly signIn: (reply: FastifyReply, accessToken: string) => Promise<void>;
}

/** Why somebody is not signed in; the sign-in page has the words. */
type Failure = LoginFailureKind | "no-role";

const CALLBACK = "/api/login/callback";
const LONGEST_PATH = 2000;

/** Signing in with the platform's login. */
export function addPlatformLogin(
  app: FastifyInstance,
  { client, consoleUrl, logger, signIn }: PlatformLoginDeps,
): void {
  const flow = createLoginFlow({
    client,
    publicUrl: consoleUrl,
    callbackPath: CALLBACK,
    cookiePrefix: "objstore_login_",
    readReturnPath: toOwnPath,
  });
  const fail = (reply: FastifyReply, why: Failure) => reply.redirect(`/sign-in?failed=${why}`, 303);

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
    const { search } = new URL(request.url, consoleUrl);
    try {
      const { location, setCookies, tokens } = await flow.finish(parseCookies(request.headers.cookie), search);
      void reply.header("set-cookie", [...setCookies]);
      await signIn(reply, tokens.accessToken);
      return await reply.redirect(location, 303);
    } catch (cause) {
      if (cause instanceof S3Error && cause.code === "AccessDenied") {
        return fail(reply, "no-role");
      }
      logger.warn({ err: cause }, "a login could not be completed");
      const why = cause instanceof LoginFailure ? cause.kind : cause instanceof S3Error ? "refused" : "unavailable";
      return fail(reply, why);
    }
  });
}

/** A page of this console; addresses of others are not followed. */
function toOwnPath(to: string | undefined): string {
  return to !== undefined && to.length <= LONGEST_PATH && /^\/(?![/\\])[\x21-\x7e]*$/.test(to) ? to : "/";
}
