import { identityHostLabel, issuerAt } from "@swath/manifest";
import * as openid from "openid-client";

import { CommandError } from "../commands/command.ts";
import { DEFAULT_CLUSTER, openTarget, readDeployedPlan } from "../targets/open-target.ts";
import { listUrls } from "../commands/operation/urls.ts";
import { type DeploymentConnection, type Fetch, createDeploymentFetch } from "../targets/deployment-fetch.ts";
import { createDeploymentConnection } from "../targets/deployment-fetch.ts";
import { listClusters } from "../targets/embedded/state/paths.ts";
import { listKnownClusters } from "../targets/kubernetes/known-clusters.ts";

/** Where a platform is and how it is reached from here. */
export interface Platform {
  /** `https://eo.example.org`: scheme, domain and port that all its hosts share. */
  readonly address: string;
  /** Its name where it is a cluster of this machine. */
  readonly cluster?: string;
  readonly issuer: string;
  readonly fetch: Fetch;
  /** For clients that bring their own HTTP. */
  readonly connection: PlatformConnection;
}

/** A way to the platform's hosts for agents of Node and of undici: direct, or by the proxies of an environment. */
export type PlatformConnection = DeploymentConnection | { readonly proxies: NodeJS.ProcessEnv };

/** The identity service's client for programs: it logs people in by the device grant (RFC 8628). */
const CLIENT_ID = "swath-cli";
const PROBE_MS = 5000;
const CLUSTER_NAME = /^[\w-]+$/;

/**
 * A cluster of this machine by its name, or a platform elsewhere by its domain or address; without a name the default cluster, or the
 * only one.
 * @param known the issuer and cluster that an earlier login found
 * @throws {CommandError} when there is no such cluster, or the name is neither
 */
export async function findPlatform(
  env: NodeJS.ProcessEnv,
  name: string | undefined,
  known?: { readonly cluster?: string; readonly issuer: string },
): Promise<Platform> {
  if (name === undefined || CLUSTER_NAME.test(name)) {
    return findDeployed(env, name ?? findOnlyCluster(env));
  }
  if (known?.cluster !== undefined && listAllClusters(env).includes(known.cluster)) {
    const deployed = await findDeployed(env, known.cluster);
    if (deployed.address === name) {
      return deployed;
    }
  }
  const url = URL.parse(name.includes("://") ? name : `https://${name}`);
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.pathname !== "/") {
    throw new CommandError(
      `${JSON.stringify(name)} is neither a cluster of this machine nor a platform's domain, such as eo.example.org`,
      2,
    );
  }
  const address = url.origin;
  const connection = createDeploymentConnection(url.hostname, {});
  const fetch = createDeploymentFetch(url.hostname, {});
  return { address, issuer: known?.issuer ?? (await findIssuer(address, fetch)), fetch, connection };
}

/** The address of a service of a platform, or of a workspace's own, without a slash at the end. */
export function addressOf(platform: string, service: string, workspace?: string): string {
  const { protocol, host } = new URL(platform);
  return `${protocol}//${service}.${workspace === undefined ? "" : `${workspace}.`}${host}`;
}

/** The issuer of a platform that this machine knows nothing of: variant A's where none answers, so that its absence is told. */
async function findIssuer(address: string, fetch: Fetch): Promise<string> {
  const candidates = (["A", "B"] as const).map((variant) =>
    issuerAt(variant, addressOf(address, identityHostLabel({ variant })), "master"),
  );
  for (const issuer of candidates) {
    const response = await fetch(`${issuer}/.well-known/openid-configuration`, {
      signal: AbortSignal.timeout(PROBE_MS),
    }).catch(() => undefined);
    if (response?.ok === true) {
      return issuer;
    }
  }
  return candidates[0] as string;
}

/** What the issuer says of itself (OpenID Connect Discovery). @throws {CommandError} when it cannot be read */
export async function discover(
  { issuer, fetch }: Pick<Platform, "issuer" | "fetch">,
  client = CLIENT_ID,
): Promise<openid.Configuration> {
  const isPlain = issuer.startsWith("http:");
  try {
    return await openid.discovery(new URL(issuer), client, undefined, openid.None(), {
      [openid.customFetch]: fetch as unknown as openid.CustomFetch,
      // A platform without TLS was made without it by its operator.
      ...(isPlain && { execute: [openid.allowInsecureRequests] }),
    });
  } catch (error) {
    throw new CommandError(
      `the identity service at ${issuer} does not answer (${describeCause(error)}); check the platform's address, or that it runs: bin/swath pods`,
    );
  }
}

/** The innermost reason of a failed request. */
export function describeCause(error: unknown): string {
  let reason = error;
  while (reason instanceof Error && reason.cause instanceof Error) {
    reason = reason.cause;
  }
  return reason instanceof Error ? reason.message || String((reason as NodeJS.ErrnoException).code) : String(reason);
}

async function findDeployed(env: NodeJS.ProcessEnv, cluster: string | undefined): Promise<Platform> {
  const target = openTarget(cluster, env);
  const plan = await readDeployedPlan(target);
  const { domain, scheme, variables } = plan.settings;
  const label = identityHostLabel(plan.settings);
  const identity = listUrls(plan).find(([service]) => service === label)?.[1];
  if (identity === undefined) {
    throw new CommandError(`the ${target.title} has no identity service, which logins of programs need`);
  }
  const access = await target.readAccess();
  const { port } = new URL(identity);
  return {
    address: new URL(`${scheme}://${domain}${port === "" ? "" : `:${port}`}`).origin,
    cluster: cluster ?? DEFAULT_CLUSTER,
    issuer: issuerAt(plan.settings.variant, identity.replace(/\/$/, ""), variables.IDENTITY_REALM),
    fetch: createDeploymentFetch(domain, access),
    connection: createDeploymentConnection(domain, access),
  };
}

const listAllClusters = (env: NodeJS.ProcessEnv): readonly string[] => [
  ...new Set([...listClusters(env), ...listKnownClusters(env)]),
];

function findOnlyCluster(env: NodeJS.ProcessEnv): string | undefined {
  const names = listAllClusters(env);
  return names.length === 1 ? names[0] : undefined;
}
