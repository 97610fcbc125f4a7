import { createHash, randomBytes } from "node:crypto";

import type { Issuer } from "@swath/auth";
import type { Logger } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { S3Error } from "../errors.ts";

interface PlatformLoginDeps {
  readonly issuer: Issuer;
  readonly clientId: string;
  /** `https://objstore-console.example.org`, no slash at the end. */
  readonly consoleUrl: string;
  readonly logger: Logger;
  /** Signs somebody in who holds this access token. @throws {S3Error} when no role fits it, or it is not valid */
  readonly signIn: (reply: FastifyReply, accessToken: string) => Promise<void>;
}

interface Pending {
  readonly state: string;
  readonly verifier: string;
  readonly to: string;
}

/** Why somebody is not signed in; the sign-in page has the words. */
type Failure = "cancelled" | "expired" | "refused" | "no-role" | "unavailable";

const CALLBACK = "/api/login/callback";
const COOKIE = "objstore_login";
/** Seconds a person may take to log in. */
const TIME_TO_LOG_IN = 1800;
const LONGEST_PATH = 2000;

/**
 * Signing in with the platform's login: authorization code with PKCE (RFC 6749 §4.1, RFC 7636) as a public client. What is
 * pending is kept in a cookie that no script sees; Lax, because the answer comes from another host.
 */
export function addPlatformLogin(app: FastifyInstance, deps: PlatformLoginDeps): void {
  const { issuer, clientId, consoleUrl, logger, signIn } = deps;
  const secure = consoleUrl.startsWith("https:") ? "; Secure" : "";
  const setCookie = (value: string, maxAge: number) =>
    `${COOKIE}=${value}; Path=/api/login; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
  const fail = (reply: FastifyReply, why: Failure) => reply.redirect(`/sign-in?failed=${why}`, 303);

  app.get<{ Querystring: { to?: string } }>("/api/login", async (request, reply) => {
    const pending: Pending = {
      state: randomBytes(24).toString("base64url"),
      verifier: randomBytes(32).toString("base64url"),
      to: toOwnPath(request.query.to),
    };
    let address: string | undefined;
    try {
      address = (await issuer.metadata()).authorization_endpoint;
    } catch (error) {
      logger.warn({ err: error }, "the identity service does not answer");
    }
    if (address === undefined) {
      return fail(reply, "unavailable");
    }
    const location = new URL(address);
    for (const [name, value] of Object.entries({
      response_type: "code",
      client_id: clientId,
      redirect_uri: `${consoleUrl}${CALLBACK}`,
      scope: "openid profile",
      state: pending.state,
      code_challenge: createHash("sha256").update(pending.verifier).digest("base64url"),
      code_challenge_method: "S256",
    })) {
      location.searchParams.set(name, value);
    }
    const value = Buffer.from(JSON.stringify(pending)).toString("base64url");
    return reply.header("set-cookie", setCookie(value, TIME_TO_LOG_IN)).redirect(location.href, 303);
  });

  app.get<{ Querystring: { state?: string; code?: string; error?: string; iss?: string } }>(
    CALLBACK,
    async (request, reply) => {
      const pending = readPending(request);
      reply.header("set-cookie", setCookie("", 0));
      const { state, code, error, iss } = request.query;
      if (pending === undefined || pending.state !== state) {
        return fail(reply, "expired");
      }
      // RFC 9207 §2.4: another issuer's answer is none.
      if (code === undefined || (iss !== undefined && iss !== issuer.url)) {
        return fail(reply, error === "access_denied" ? "cancelled" : "refused");
      }
      try {
        const answer = await issuer.call("token_endpoint", {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body: new URLSearchParams({
            grant_type: "authorization_code",
            client_id: clientId,
            code,
            redirect_uri: `${consoleUrl}${CALLBACK}`,
            code_verifier: pending.verifier,
          }).toString(),
        });
        const { access_token: token } = JSON.parse(answer.body) as { access_token?: unknown };
        if (answer.status !== 200 || typeof token !== "string") {
          return await fail(reply, "expired");
        }
        await signIn(reply, token);
        return await reply.redirect(pending.to, 303);
      } catch (cause) {
        if (cause instanceof S3Error && cause.code === "AccessDenied") {
          return fail(reply, "no-role");
        }
        logger.warn({ err: cause }, "a login could not be completed");
        return fail(reply, cause instanceof S3Error ? "refused" : "unavailable");
      }
    },
  );
}

function readPending({ headers }: FastifyRequest): Pending | undefined {
  const value = new RegExp(`(?:^|; *)${COOKIE}=([\\w-]+)`).exec(headers.cookie ?? "")?.[1];
  if (value === undefined) {
    return undefined;
  }
  try {
    const found = JSON.parse(Buffer.from(value, "base64url").toString()) as Partial<Pending> | null;
    const texts = [found?.state, found?.verifier, found?.to];
    return texts.every((text) => typeof text === "string") ? (found as Pending) : undefined;
  } catch {
    // Not ours: the same as nothing.
    return undefined;
  }
}

/** A page of this console; addresses of others are not followed. */
function toOwnPath(to: string | undefined): string {
  return to !== undefined && to.length <= LONGEST_PATH && /^\/(?![/\\])[\x21-\x7e]*$/.test(to) ? to : "/";
}
