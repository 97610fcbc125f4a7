import { type PlatformSecret, type Variant, identityAdminPassword, identityHostLabel } from "@swath/manifest";
import { fetch } from "undici";

import { CommandError } from "../commands/command.ts";
import { listUrls } from "../commands/operation/urls.ts";
import { openTarget, readDeployedPlan } from "../targets/open-target.ts";
import { type Fetch, createDeploymentFetch } from "../targets/deployment-fetch.ts";
import { chooseCluster } from "./choose-cluster.ts";
import type { HelperContext } from "./helper.ts";

/** Options that all helpers have, complete. */
export interface AdminOptions {
  readonly authServer: string;
  readonly realm: string;
  readonly client: string;
  readonly user: string;
}

/** What is known of the scripted deployment on this machine. */
export interface Deployment {
  readonly variant: Variant;
  readonly domain: string | undefined;
  /** First path segment of the login service's endpoints (variant B). */
  readonly loginProvider: string;
  /** `http://ades.<domain>`; `identity` is the identity service, whatever its host is called. */
  readonly url: (service: string) => string;
  /** The same. @throws {CommandError} where the deployment does not have the service */
  readonly requireUrl: (service: string) => string;
  readonly realm: string | undefined;
  readonly adminUser: string | undefined;
  readonly adminClient: string | undefined;
  readonly readAdminPassword: () => Promise<string | undefined>;
  readonly fetch: Fetch;
}

const DEFAULT_DOMAIN = "127-0-0-1.nip.io";

/**
 * Reads the deployment that the helper means (`chooseCluster`); without any, addresses are those that the default one would have.
 * @param domain of the deployment, where the command line gives it
 */
export async function readDeployment({ env }: HelperContext, domainGiven?: string): Promise<Deployment> {
  const provided =
    env["LOGIN_SERVICE_ADMIN_PASSWORD"] ??
    env["IDENTITY_SERVICE_ADMIN_PASSWORD"] ??
    env["IDENTITY_SERVICE_DEFAULT_SECRET"];
  try {
    const target = openTarget(await chooseCluster(env, domainGiven), env);
    const plan = await readDeployedPlan(target);
    const { variables, scheme, domain } = plan.settings;
    const urls = new Map(listUrls(plan).map(([service, url]) => [service, url.replace(/\/$/, "")]));
    const secret: PlatformSecret = identityAdminPassword(plan.settings);
    const findUrl = (name: string): string | undefined => {
      const service = name === "identity" ? identityHostLabel(plan.settings) : name;
      return urls.get(service) ?? urls.get(`${service}-open`);
    };
    return {
      variant: plan.settings.variant,
      domain,
      loginProvider: variables.LOGIN_PROVIDER,
      url: (service) => findUrl(service) ?? `${scheme}://${service}.${domain}`,
      requireUrl: (service) => findUrl(service) ?? refuseService(plan.settings.variant, service),
      realm: variables.IDENTITY_REALM,
      adminUser: variables.IDENTITY_SERVICE_ADMIN_USER,
      adminClient: variables.IDENTITY_SERVICE_ADMIN_CLIENT,
      readAdminPassword: async () => provided ?? (await target.readSecret(secret)),
      fetch: createDeploymentFetch(domain, await target.readAccess()),
    };
  } catch (error) {
    if (!(error instanceof CommandError)) {
      throw error;
    }
    // Nothing is deployed from here: the helper may still be pointed at a deployment elsewhere.
    return {
      variant: env["PLATFORM_VARIANT"] === "B" ? "B" : "A",
      domain: undefined,
      loginProvider: env["LOGIN_PROVIDER"] ?? "oxauth",
      url: (service) => `http://${service}.${DEFAULT_DOMAIN}`,
      requireUrl: (service) => `http://${service}.${DEFAULT_DOMAIN}`,
      realm: undefined,
      adminUser: undefined,
      adminClient: undefined,
      readAdminPassword: () => Promise.resolve(provided),
      fetch,
    };
  }
}

/** What does the same in variant B, where the service has no host. */
const INSTEAD_IN_B: ReadonlyMap<string, string> = new Map([
  ["identity-api", "register clients with deploy/bin/register-client"],
  [
    "registration-api",
    "load records with deploy/bin/load-records, or register at the workspace API: POST /workspaces/<name>/register",
  ],
]);

function refuseService(variant: Variant, service: string): never {
  const instead = variant === "B" ? INSTEAD_IN_B.get(service) : undefined;
  throw new CommandError(
    instead === undefined
      ? `this deployment has no ${service}; bin/swath urls lists what it has`
      : `variant B has no ${service}; ${instead}`,
  );
}

/** The password of an option, of the environment or deployment, or of whoever sits at the terminal. */
export async function findPassword(
  { terminal }: HelperContext,
  user: string,
  {
    provided,
    known,
    option,
  }: { readonly provided: string | undefined; readonly known: string | undefined; readonly option: string },
): Promise<string> {
  const password = provided ?? known;
  if (password !== undefined && password !== "") {
    return password;
  }
  if (!terminal.isInteractive) {
    throw new CommandError(
      `the password of ${user} is missing: give ${option}, or run this on a terminal to be asked for it`,
    );
  }
  const typed = await terminal.callSecret(`Password of ${user}: `);
  if (typed === "") {
    throw new CommandError(`the password of ${user} is missing`);
  }
  return typed;
}

/** An address as given on the command line, without a slash at the end. */
export function readAddress(text: string, option: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new CommandError(
      `${option} ${JSON.stringify(text)} is not an address; write it like https://identity.example.org`,
    );
  }
  return text.replace(/\/+$/, "");
}
