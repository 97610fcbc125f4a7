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
}

interface HubEnvironment {
  readonly user: string;
  readonly token: string;
  readonly expires: string;
  readonly services: Readonly<Record<string, string>>;
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
  const answer = await through(`${env["JUPYTERHUB_API_URL"]}/swath/environment`, {
    headers: { authorization: `token ${env["JUPYTERHUB_API_TOKEN"]}` },
  }).catch((error: unknown) => {
    throw new CommandError(`the application hub does not answer (${String(error)}); try again in a moment`);
  });
  const body = (await answer.json()) as HubEnvironment & { readonly message?: string };
  if (!answer.ok) {
    throw new CommandError(body.message ?? `the application hub answered ${answer.status}`);
  }
  const { user, token, expires, services } = body;
  return { user, token, ends: Date.parse(expires), platform: toPlatform(services, through) };
}

function toPlatform(services: Readonly<Record<string, string>>, through: Platform["fetch"]): Platform {
  const [first] = Object.entries(services);
  if (first === undefined) {
    throw new CommandError("the application hub knows of no service of the platform");
  }
  const [id, address] = first;
  const { protocol, host } = new URL(address);
  const platform = `${protocol}//${host.slice(id.length + 1)}`;
  return {
    address: platform,
    issuer: `${services["identity"] ?? platform}/realms/master`,
    fetch: through,
    // Nothing is reached without the server's proxy.
    connection: {
      lookup: (name, _options, callback) => callback(new Error(`${name} is not reached from here`), "", 4),
    },
  };
}
