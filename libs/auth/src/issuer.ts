import { type Peer, createPeer } from "@swath/service";

import { IssuerUnavailableError } from "./token-error.ts";

/** What is needed of a discovery document (OpenID Connect Discovery 1.0 §3, RFC 8414 §2). */
export interface IssuerMetadata {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly authorization_endpoint?: string;
  readonly token_endpoint?: string;
  readonly introspection_endpoint?: string;
  readonly revocation_endpoint?: string;
  readonly end_session_endpoint?: string;
}

type Endpoint = Exclude<keyof IssuerMetadata, "issuer">;

export interface RequestOptions {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/** An issuer of tokens and the way to it. */
export interface Issuer {
  /** Exactly what its tokens say in `iss`. */
  readonly url: string;
  /** Its ID tokens let somebody in, too. */
  readonly acceptIdTokens: boolean;
  /** It is no part of the deployment: the operator named its address (`IDENTITY_ISSUER_URL`). */
  readonly isExternal?: boolean;
  readonly metadata: () => Promise<IssuerMetadata>;
  /** Calls an endpoint that the discovery document names. */
  readonly call: (endpoint: Endpoint, options?: RequestOptions) => Promise<IssuerResponse>;
  readonly close: () => Promise<void>;
}

export interface IssuerResponse {
  readonly status: number;
  readonly body: string;
}

export interface IssuerOptions {
  /** `https://identity.example.org/realms/master`: the `iss` of its tokens. */
  readonly issuer: string;
  /** The same server on a way inside the deployment; requests to the issuer's own origin go there. */
  readonly peerUrl?: string;
  /** Take its ID tokens as well: clients of the login service (variant B) know no others. */
  readonly acceptIdTokens?: boolean;
  /** Milliseconds a discovery document is used before it is read again. */
  readonly maxAge?: number;
  readonly clock?: () => number;
}

const TIMEOUT = 5000;
const MAX_ANSWER = 1024 * 1024;

/** Opens the way to an issuer; nothing is read before it is needed. */
export function openIssuer({
  issuer,
  peerUrl,
  acceptIdTokens = false,
  maxAge = 600_000,
  clock = Date.now,
}: IssuerOptions): Issuer {
  const own = new URL(issuer);
  const peers = new Map<string, Peer>([[own.origin, createPeer(peerUrl ?? own.origin)]]);
  /** The provider builds its public addresses from these when it is reached on another way. */
  const forwarded = { host: own.host, "x-forwarded-proto": own.protocol.slice(0, -1), "x-forwarded-host": own.host };

  const request = async (target: URL, { method = "GET", headers, body, timeout, signal }: RequestOptions = {}) => {
    if (own.protocol === "https:" && target.protocol !== "https:") {
      throw new IssuerUnavailableError(`${issuer} names an endpoint without TLS: ${target.origin}`);
    }
    const peer = peers.get(target.origin) ?? createPeer(target.origin);
    peers.set(target.origin, peer);
    let response;
    try {
      const limit = AbortSignal.timeout(timeout ?? TIMEOUT);
      response = await peer.dispatcher.request({
        origin: peer.origin,
        path: `${target.pathname}${target.search}`,
        method,
        headers: { accept: "application/json", ...(target.origin === own.origin && forwarded), ...headers },
        ...(body !== undefined && { body }),
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      });
      return { status: response.statusCode, body: await readText(response.body) };
    } catch (cause) {
      throw new IssuerUnavailableError(`${target.origin}${target.pathname} cannot be reached: ${reasonOf(cause)}`, {
        cause,
      });
    }
  };

  let known: { metadata: IssuerMetadata; at: number } | undefined;
  let reading: Promise<IssuerMetadata> | undefined;
  const discover = async (): Promise<IssuerMetadata> => {
    const target = new URL(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
    const { status, body } = await request(target);
    if (status !== 200) {
      throw new IssuerUnavailableError(`${target.href} answered ${status}`);
    }
    const metadata = parseMetadata(body, target.href);
    if (metadata.issuer !== issuer) {
      throw new IssuerUnavailableError(
        `${target.href} says its issuer is ${JSON.stringify(metadata.issuer)}; expected ${JSON.stringify(issuer)}`,
      );
    }
    known = { metadata, at: clock() };
    return metadata;
  };
  const metadata = async (): Promise<IssuerMetadata> => {
    if (known !== undefined && clock() - known.at < maxAge) {
      return known.metadata;
    }
    reading ??= discover().finally(() => (reading = undefined));
    try {
      return await reading;
    } catch (error) {
      // An issuer that restarts does not change its addresses.
      if (known !== undefined) {
        return known.metadata;
      }
      throw error;
    }
  };

  return {
    url: issuer,
    acceptIdTokens,
    isExternal: peerUrl === undefined,
    metadata,
    call: async (endpoint, options) => {
      const address = (await metadata())[endpoint];
      if (address === undefined) {
        throw new IssuerUnavailableError(`${issuer} has no ${endpoint}`);
      }
      return request(new URL(address), options);
    },
    close: async () => {
      await Promise.all([...peers.values()].map((peer) => peer.close()));
    },
  };
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_ANSWER) {
      throw new Error(`the answer is larger than ${MAX_ANSWER} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseMetadata(text: string, where: string): IssuerMetadata {
  const document = parseJson(text);
  const required = ["issuer", "jwks_uri"] as const;
  for (const name of required) {
    if (typeof document?.[name] !== "string") {
      throw new IssuerUnavailableError(`${where} is not a discovery document: ${name} is missing`);
    }
  }
  for (const name of Object.keys(document ?? {}).filter((key) => key.endsWith("_endpoint") || key === "jwks_uri")) {
    if (typeof document?.[name] !== "string" || !URL.canParse(document[name])) {
      throw new IssuerUnavailableError(`${where} is not a discovery document: ${name} is not a URL`);
    }
  }
  return document as unknown as IssuerMetadata;
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
