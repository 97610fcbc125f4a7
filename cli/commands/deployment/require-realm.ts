import { realmPath } from "@swath/manifest/realm-paths";
import type { Plan } from "../../platform/plan.ts";
import { createDeploymentFetch } from "../../targets/deployment-fetch.ts";
import type { Target } from "../../targets/target.ts";
import { CommandError } from "../command.ts";
import { listUrls } from "../operation/urls.ts";

const TIMEOUT = 5000;

/**
 * The deployment does not make realms other than `master`: one that does not exist is refused before anything is changed. What
 * was deployed with this realm before is not asked again.
 * @throws {CommandError} saying what to do
 */
export async function requireRealm(target: Target, plan: Plan): Promise<void> {
  const { IDENTITY_REALM: realm } = plan.settings.variables;
  if (realm === "master" || !plan.components.some(({ name }) => name === "identity")) {
    return;
  }
  const deployed = await target.readPlan();
  if (deployed?.settings.variables.IDENTITY_REALM === realm) {
    return;
  }
  const refuse = (why: string): never => {
    throw new CommandError(
      `nothing was changed: IDENTITY_REALM=${realm}, and ${why}; deploy with IDENTITY_REALM=master, create the realm in the identity console, then deploy with it`,
    );
  };
  const url = deployed && listUrls(deployed).find(([service]) => service === "identity")?.[1];
  if (deployed === undefined || url === undefined) {
    return refuse("no identity service is deployed that could have such a realm");
  }
  const path = `${realmPath(realm)}/.well-known/openid-configuration`;
  const response = await send(target, deployed, url, path);
  if (response === undefined) {
    return refuse(`the identity service at ${url} does not answer, so it cannot be checked`);
  }
  if (!response.ok) {
    refuse(`the identity service at ${url} has no such realm`);
  }
}

/** On Kubernetes past the ingress: names may not lead there yet. Undefined where nobody answers. */
async function send(
  target: Target,
  { settings: { domain, variables } }: Plan,
  url: string,
  path: string,
): Promise<{ readonly ok: boolean } | undefined> {
  const forward = await target.forward?.(variables.TEMP_FORWARDING_PORT);
  try {
    const base = forward === undefined ? url : `http://${new URL(url).hostname}:${forward.port}/`;
    const access = forward === undefined ? await target.readAccess() : { address: "127.0.0.1" };
    const fetch = createDeploymentFetch(domain, access);
    const response = await fetch(new URL(path, base), { signal: AbortSignal.timeout(TIMEOUT) });
    await response.arrayBuffer();
    return response;
  } catch {
    return undefined;
  } finally {
    await forward?.close();
  }
}
