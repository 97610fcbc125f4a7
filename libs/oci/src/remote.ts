import type { Peer } from "@swath/service";
import { type Dispatcher, type Headers, type RequestInit, type Response, fetch } from "undici";

import { RegistryRefusal } from "./registry-client.ts";

export interface RemoteOptions {
  /** Where its API is: `https://registry-1.docker.io`. */
  readonly url: string;
  /** Nobody's when left out. */
  readonly login?: { readonly username: string; readonly password: string } | undefined;
  readonly dispatcher: Dispatcher;
  /** What tokens are asked for. */
  readonly actions: "pull" | "pull,push";
  /** @throws for an address that must not be connected to */
  readonly checkHost?: (hostname: string, where: string) => void;
  /** Told of every answer of the registry itself: rate limits are in its headers. */
  readonly onResponse?: (status: number, headers: Headers) => void;
}

interface Authorization {
  readonly field: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

const MAX_REDIRECTS = 5;
const MAX_TOKEN_CHARACTERS = 65_536;
const TOKEN_TIMEOUT_MS = 30_000;
const DEFAULT_TOKEN_SECONDS = 60;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * A registry of others as a peer of clients and writers: logs in by Basic or by tokens as the registry asks for it, and follows redirects
 * of content to where it is kept. Its login goes to the registry and to the token service that it names, and never to where a redirect
 * leads; a redirect never leads from https to http.
 */
export function createRemote(options: RemoteOptions): Pick<Peer, "fetch"> {
  const { url, dispatcher, checkHost, onResponse } = options;
  const base = new URL(url);
  const known = new Map<string, Authorization>();

  const send = (target: URL, init: RequestInit, authorization: string | undefined) => {
    checkHost?.(target.hostname, target.origin);
    return fetch(target, {
      ...init,
      dispatcher,
      redirect: "manual",
      headers: {
        "user-agent": "swath-registry",
        // What is sent is what the digest is of.
        "accept-encoding": "identity",
        ...(init.headers as Record<string, string>),
        ...(authorization !== undefined && { authorization }),
      },
    });
  };
  const follow = async (first: Response, from: URL, init: RequestInit): Promise<Response> => {
    let response = first;
    let place = from;
    for (let hops = 0; REDIRECTS.has(response.status); hops++) {
      const next = URL.parse(response.headers.get("location") ?? "", place.href);
      await response.body?.cancel();
      if (hops === MAX_REDIRECTS || (init.method ?? "GET") !== "GET" || next === null || !isNoWorse(place, next)) {
        throw new RegistryRefusal(502, `${base.host} redirects where it must not: to ${next?.origin ?? "nowhere"}.`);
      }
      place = next;
      // The login is for the registry alone.
      response = await send(place, { ...init, headers: {} }, undefined);
    }
    return response;
  };
  return {
    fetch: async (path, { timeout = 30_000, signal, ...init } = {}) => {
      const target = new URL(path, base);
      if (target.origin !== base.origin) {
        throw new RegistryRefusal(502, `${base.host} sends uploads to ${target.origin}, which is another host.`);
      }
      const deadline = AbortSignal.timeout(timeout);
      const request: RequestInit = { ...init, signal: signal ? AbortSignal.any([signal, deadline]) : deadline };
      const repository = /^\/v2\/(.+)\/(?:manifests|blobs|tags|referrers)\//.exec(target.pathname)?.[1];
      const key = repository ?? target.pathname;
      const kept = known.get(key);
      const usable = kept !== undefined && kept.until > Date.now() ? kept.field : undefined;
      let response = await send(target, request, usable);
      onResponse?.(response.status, response.headers);
      if (response.status === 401 && !isStream(init.body)) {
        const challenge = response.headers.get("www-authenticate") ?? "";
        const fresh = await authorize(options, challenge, repository);
        if (fresh !== undefined) {
          known.set(key, fresh);
          await response.body?.cancel();
          response = await send(target, request, fresh.field);
          onResponse?.(response.status, response.headers);
        }
      }
      return follow(response, target, request);
    },
  };
}

const isStream = (body: RequestInit["body"]): boolean =>
  body !== undefined && body !== null && typeof body === "object" && !Buffer.isBuffer(body);

const isNoWorse = (from: URL, to: URL): boolean =>
  to.protocol === "https:" || (to.protocol === "http:" && from.protocol === "http:");

/** What a challenge asks for (RFC 7617, token authentication of registries); undefined where there is nothing to show. */
async function authorize(
  { url, login, dispatcher, actions, checkHost }: RemoteOptions,
  challenge: string,
  repository: string | undefined,
): Promise<Authorization | undefined> {
  const basic = login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;
  if (!/^bearer /i.test(challenge)) {
    return basic === undefined ? undefined : { field: basic, until: Number.POSITIVE_INFINITY };
  }
  const fields = new Map(
    [...challenge.matchAll(/([a-z]+)="([^"]*)"/gi)].map(([, name = "", value = ""]) => [name, value]),
  );
  const realm = URL.parse(fields.get("realm") ?? "");
  if (realm === null || !isNoWorse(new URL(url), realm)) {
    throw new RegistryRefusal(502, `${new URL(url).host} names no token service that can be asked.`);
  }
  const scope = repository === undefined ? fields.get("scope") : `repository:${repository}:${actions}`;
  for (const [name, value] of [["service", fields.get("service")] as const, ["scope", scope] as const]) {
    if (value !== undefined) {
      realm.searchParams.set(name, value);
    }
  }
  checkHost?.(realm.hostname, realm.origin);
  const response = await fetch(realm, {
    dispatcher,
    redirect: "manual",
    headers: { accept: "application/json", ...(basic !== undefined && { authorization: basic }) },
    signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS),
  });
  const text = (await response.text()).slice(0, MAX_TOKEN_CHARACTERS);
  if (!response.ok) {
    throw new RegistryRefusal(
      response.status === 429 || response.status >= 500 ? response.status : 401,
      `The token service ${realm.host} answers ${response.status}${login === undefined ? "" : `; is the login of ${login.username} right?`}`,
    );
  }
  return readToken(text, realm.host);
}

function readToken(text: string, host: string): Authorization {
  try {
    const { token, access_token: other, expires_in: seconds } = JSON.parse(text) as Record<string, unknown>;
    const found = token ?? other;
    if (typeof found === "string" && /^[\x21-\x7e]+$/.test(found)) {
      const lifetime = typeof seconds === "number" && seconds > 0 ? seconds : DEFAULT_TOKEN_SECONDS;
      // Asked for again before it ends: a request under way must not lose it.
      return { field: `Bearer ${found}`, until: Date.now() + lifetime * 800 };
    }
  } catch {
    // Said below.
  }
  throw new RegistryRefusal(502, `The token service ${host} gives no token.`);
}
