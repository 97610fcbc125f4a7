import { AsyncLocalStorage } from "node:async_hooks";

import { Problem, parsePeerUrl } from "@swath/service";
import * as openid from "openid-client";
import { Agent } from "undici";

/** A page of the platform as a public client of the identity service (OpenID Connect Core, RFC 7636). */
export interface OidcClient {
  /** Reads what the issuer says of itself, once; again after a failure. @throws {Problem} 503 when it does not answer */
  readonly configuration: () => Promise<openid.Configuration>;
  readonly close: () => Promise<void>;
}

interface OidcClientOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** The issuer on a way inside the deployment. */
  readonly peerUrl?: string;
}

const TIMEOUT_SECONDS = 10;

const userAgents = new AsyncLocalStorage<string | undefined>();

/** Has requests to the issuer carry the browser's name: the list of a user's sessions shows it, instead of this library's. */
export function withUserAgent<T>(userAgent: string | undefined, work: () => Promise<T>): Promise<T> {
  return userAgents.run(userAgent, work);
}

export function createOidcClient({ issuer, clientId, peerUrl }: OidcClientOptions): OidcClient {
  const own = new URL(issuer);
  const { origin, socketPath } = parsePeerUrl(peerUrl ?? own.origin);
  const agent = new Agent({ ...(socketPath !== undefined && { connect: { socketPath } }), keepAliveTimeout: 4000 });
  const elsewhere = new Agent({ keepAliveTimeout: 4000 });

  const fetchIssuer = async (address: string, options: openid.CustomFetchOptions): Promise<Response> => {
    const target = new URL(address);
    const isOwn = target.origin === own.origin;
    const headers = Object.fromEntries(new Headers(options.headers));
    const response = await (isOwn ? agent : elsewhere)
      .request({
        origin: isOwn ? origin : target.origin,
        path: `${target.pathname}${target.search}`,
        method: options.method as "GET" | "POST",
        headers: {
          ...headers,
          ...(userAgents.getStore() !== undefined && { "user-agent": userAgents.getStore() }),
          // The provider builds its public addresses from these when it is reached on another way.
          ...(isOwn && {
            host: own.host,
            "x-forwarded-proto": own.protocol.slice(0, -1),
            "x-forwarded-host": own.host,
          }),
        },
        // Forms are all that a public client sends.
        body: options.body instanceof URLSearchParams ? options.body.toString() : null,
        signal: AbortSignal.any([options.signal ?? [], AbortSignal.timeout(TIMEOUT_SECONDS * 1000)].flat()),
      })
      .catch((cause: unknown) => {
        throw toUnavailable(cause);
      });
    const { statusCode, headers: answered, body } = response;
    if (statusCode >= 502 && statusCode <= 504) {
      // Who stands before the provider says that it is away.
      await body.dump();
      throw toUnavailable(new Error(`status ${statusCode}`));
    }
    const text = await body.text();
    // What is read of an answer: of which kind it is, and why a token was refused.
    const shown = ["content-type", "www-authenticate"].flatMap((name): [string, string][] => {
      const value = answered[name];
      return typeof value === "string" ? [[name, value]] : [];
    });
    return new Response(statusCode === 204 ? null : text, { status: statusCode, headers: shown });
  };

  let reading: Promise<openid.Configuration> | undefined;
  return {
    configuration: async () => {
      reading ??= openid.discovery(own, clientId, undefined, openid.None(), {
        [openid.customFetch]: fetchIssuer,
        timeout: TIMEOUT_SECONDS,
        // Deployments without TLS exist; with TLS nothing else is accepted.
        ...(own.protocol === "http:" && { execute: [openid.allowInsecureRequests] }),
      });
      try {
        return await reading;
      } catch (cause) {
        reading = undefined;
        throw toUnavailable(cause);
      }
    },
    close: async () => {
      await Promise.all([agent.destroy(), elsewhere.destroy()]);
    },
  };
}

function toUnavailable(cause: unknown): Problem {
  return new Problem(503, "The identity service does not answer; try again in a moment.", {
    cause,
    headers: { "retry-after": "2" },
  });
}
