import { issuerAt } from "@swath/manifest";
import { EnvHttpProxyAgent, fetch } from "undici";

import { CommandError } from "../commands/command.ts";
import type { Platform } from "./connect.ts";

/** The login of whom a server of the application hub works for: commands there need no other. */
export interface HubLogin {
  readonly platform: Platform;
  readonly user: string;
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly ends: number;
  /** The object storage, and keys of the user that last as long as the login's token. */
  readonly s3: HubStorage | undefined;
}

interface HubStorage {
  readonly endpoint: string;
  readonly region: string;
  /** Missing where the storage gives the user none. */
  readonly access_key?: string;
  readonly secret_key?: string;
  readonly session_token?: string;
  readonly expires?: string;
}

interface HubEnvironment {
  readonly user: string;
  readonly token: string;
  readonly expires: string;
  readonly services: Readonly<Record<string, string>>;
  readonly s3?: HubStorage;
}

/** Whether this runs in a server of the application hub. */
export const isInHub = (env: NodeJS.ProcessEnv): boolean =>
  env["JUPYTERHUB_API_URL"] !== undefined &&
  env["JUPYTERHUB_API_TOKEN"] !== undefined &&
  env["SWATH_SERVICES"] !== undefined;

/**
 * Asks the hub for a token that is good for a minute or more (`GET /hub/api/swath/environment`). The way to the platform is the one that
 * the server's environment names (`HTTPS_PROXY`).
 * @throws {CommandError} when the hub does not answer, or its user has logged out
 */
export async function readHubLogin(env: NodeJS.ProcessEnv): Promise<HubLogin> {
  const dispatcher = new EnvHttpProxyAgent();
  const through: Platform["fetch"] = (input, init) => fetch(input, { ...init, dispatcher });
  const response = await through(`${env["JUPYTERHUB_API_URL"]}/swath/environment`, {
    headers: { authorization: `token ${env["JUPYTERHUB_API_TOKEN"]}` },
  }).catch((error: unknown) => {
    throw new CommandError(`the application hub does not answer (${String(error)}); try again in a moment`);
  });
  const body = (await response.json()) as HubEnvironment & { readonly message?: string };
  if (!response.ok) {
    throw new CommandError(body.message ?? `the application hub answered ${response.status}`);
  }
  const { user, token, expires, services, s3 } = body;
  return { user, token, ends: Date.parse(expires), platform: toPlatform(services, through, env), s3 };
}

function toPlatform(
  services: Readonly<Record<string, string>>,
  through: Platform["fetch"],
  env: NodeJS.ProcessEnv,
): Platform {
  const [first] = Object.entries(services);
  if (first === undefined) {
    throw new CommandError("the application hub knows of no service of the platform");
  }
  const [id, address] = first;
  const { protocol, host } = new URL(address);
  const platform = `${protocol}//${host.slice(id.length + 1)}`;
  return {
    address: platform,
    issuer:
      services["auth"] === undefined
        ? issuerAt("A", services["identity"] ?? platform, "master")
        : issuerAt("B", services["auth"], "master"),
    fetch: through,
    connection: { proxies: env },
  };
}
