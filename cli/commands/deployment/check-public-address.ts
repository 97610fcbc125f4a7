import type { Plan } from "../../platform/plan.ts";
import { createDeploymentFetch } from "../../targets/deployment-fetch.ts";
import type { Target } from "../../targets/target.ts";
import { listUrls } from "../operation/urls.ts";

const TIMEOUT_MS = 5000;

/**
 * Sends one request through the public address, as a client elsewhere would. Returns what an operator has to know when nobody
 * answers there; any HTTP response is good enough.
 */
export async function checkPublicAddress(target: Target, plan: Plan): Promise<string | undefined> {
  const { publicIp, domain } = plan.settings;
  const [first] = listUrls(plan);
  if (first === undefined) {
    return undefined;
  }
  const [, url] = first;
  const { certificateAuthority } = await target.readAccess();
  const fetch = createDeploymentFetch(domain, {
    address: publicIp,
    ...(certificateAuthority !== undefined && { certificateAuthority }),
  });
  try {
    const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    return undefined;
  } catch (error) {
    const { cause, message } = error as Error;
    const reason = cause instanceof Error ? cause.message : message;
    return (
      `${url} does not answer at ${publicIp}: ${reason}. The services run; what is in the way is between that address and this machine: ` +
      "a firewall, forwarding of the ports, or another address of the machine (some networks do not let a machine reach itself by its public address)"
    );
  }
}
