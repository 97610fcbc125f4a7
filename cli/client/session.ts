import * as openid from "openid-client";

import { CommandError } from "../commands/command.ts";
import { type Platform, addressOf, describeCause, discover, findPlatform } from "./connect.ts";
import { type HubLogin, isInHub, readHubLogin } from "./hub-login.ts";
import { type SavedLogin, readLogin, saveLogin } from "./login-file.ts";

/** Somebody who is logged in at a platform. */
export interface Session {
  readonly platform: Platform;
  readonly user: string;
  /** Address of a service, without a slash at the end. */
  readonly address: (service: string, workspace?: string) => string;
  /**
   * Sends a request in the user's name. The answer's status is below 400.
   * @throws {CommandError} with the service's own words where it is not, or nothing answers
   */
  readonly request: (url: string, init?: RequestOptions) => Promise<ServiceResponse>;
  /** An access token that is good for some seconds at least. */
  readonly token: () => Promise<string>;
  /** In a server of the application hub: the object storage with keys of the user, asked for again before they end. */
  readonly readStorage?: () => Promise<HubLogin["s3"]>;
}

export type ServiceResponse = Awaited<ReturnType<Platform["fetch"]>>;

interface RequestOptions {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly body?: Uint8Array | string;
  /** Statuses of 400 and above that the caller looks at. */
  readonly fine?: readonly number[];
}

/** A token that ends sooner than this is renewed first. */
const LEEWAY_MS = 10_000;

/** `--platform`, of the commands that work in somebody's name. */
export const platformOption = { platform: { type: "string" } } as const;

export const PLATFORM_HELP =
  "  --platform NAME   cluster of this machine or address of a platform (default: where you logged in last)";

/**
 * The login at the platform that was named, else the newest one; in a server of the application hub the login of its user.
 * @throws {CommandError} when nobody has logged in there, or the login has ended
 */
export async function openSession(env: NodeJS.ProcessEnv, name: string | undefined): Promise<Session> {
  const desired = name === undefined ? undefined : (await findPlatform(env, name)).address;
  const login = await readLogin(env, desired);
  if (login === undefined && name === undefined && isInHub(env)) {
    return openHubSession(env);
  }
  if (login === undefined) {
    throw new CommandError(
      name === undefined
        ? "you are not logged in: swath login"
        : `you are not logged in at ${desired}: swath login ${name}`,
    );
  }
  const platform = await findPlatform(env, login.platform, login);
  let current = login;
  return createSession(platform, login.user, async () => {
    if (current.accessTokenEnds - LEEWAY_MS < Date.now()) {
      current = await renew(env, platform, current);
    }
    return current.accessToken;
  });
}

async function openHubSession(env: NodeJS.ProcessEnv): Promise<Session> {
  let current = await readHubLogin(env);
  const session = createSession(current.platform, current.user, async () => {
    if (current.ends - LEEWAY_MS < Date.now()) {
      current = await readHubLogin(env);
    }
    return current.token;
  });
  return { ...session, readStorage: async () => (await readHubLogin(env)).s3 };
}

function createSession(platform: Platform, user: string, getToken: () => Promise<string>): Session {
  return {
    platform,
    user,
    token: getToken,
    address: (service, workspace) => addressOf(platform.address, service, workspace),
    request: async (url, { method = "GET", headers, json, body, fine = [] } = {}) => {
      // A token goes to the platform alone, whatever address an answer names.
      if (!belongsTo(platform.address, url)) {
        throw new CommandError(`${url} is not an address of ${platform.address}`);
      }
      const authorization = `Bearer ${await getToken()}`;
      const response = await platform
        .fetch(url, {
          method,
          headers: {
            accept: "application/json",
            ...(json !== undefined && { "content-type": "application/json" }),
            ...headers,
            authorization,
          },
          ...(json !== undefined ? { body: JSON.stringify(json) } : body !== undefined && { body }),
          redirect: "manual",
        })
        .catch((error: unknown) => {
          throw new CommandError(`${new URL(url).host} does not answer: ${describeCause(error)}`);
        });
      if (response.status >= 300 && !fine.includes(response.status)) {
        throw new CommandError(await describeRefusal(response, url));
      }
      return response;
    },
  };
}

/** Saves what a login or a renewal gave. */
export async function keepTokens(
  env: NodeJS.ProcessEnv,
  platform: Platform,
  user: string,
  tokens: Pick<openid.TokenEndpointResponse, "access_token" | "expires_in" | "refresh_token">,
  { earlier, client = earlier?.client }: { readonly earlier?: SavedLogin; readonly client?: string | undefined } = {},
): Promise<SavedLogin> {
  const login: SavedLogin = {
    platform: platform.address,
    ...(platform.cluster !== undefined && { cluster: platform.cluster }),
    issuer: platform.issuer,
    ...(client !== undefined && { client }),
    user,
    // An issuer that does not rotate refresh tokens gives none with a renewal (RFC 6749 §6).
    refreshToken: tokens.refresh_token ?? earlier?.refreshToken ?? "",
    accessToken: tokens.access_token,
    accessTokenEnds: Date.now() + (tokens.expires_in ?? 60) * 1000,
  };
  await saveLogin(env, login);
  return login;
}

async function renew(env: NodeJS.ProcessEnv, platform: Platform, login: SavedLogin): Promise<SavedLogin> {
  const configuration = await discover(platform, login.client);
  try {
    const tokens = await openid.refreshTokenGrant(configuration, login.refreshToken);
    return await keepTokens(env, platform, login.user, tokens, { earlier: login });
  } catch (error) {
    if (error instanceof openid.ResponseBodyError) {
      throw new CommandError(
        `your login at ${login.platform} has ended (${error.error_description ?? error.error}); log in again: swath login ${login.cluster ?? login.platform}`,
      );
    }
    throw error;
  }
}

function belongsTo(platform: string, url: string): boolean {
  const [own, other] = [new URL(platform), URL.parse(url)];
  return (
    other !== null &&
    other.protocol === own.protocol &&
    (other.host === own.host || other.host.endsWith(`.${own.host}`))
  );
}

/** What a service says about a request that it refuses (RFC 9457), in one line. */
async function describeRefusal(response: ServiceResponse, url: string): Promise<string> {
  const text = await response.text();
  let said = text.slice(0, 500);
  try {
    const problem = JSON.parse(text) as { detail?: unknown; description?: unknown; title?: unknown };
    const words = [problem.detail, problem.description, problem.title].find((value) => typeof value === "string");
    said = words === undefined ? said : String(words);
  } catch {
    // Not JSON: shown as it came.
  }
  return `${new URL(url).host} answered ${response.status}: ${said.trim()}`;
}
