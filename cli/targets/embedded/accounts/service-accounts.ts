import { findContainerEngine } from "@swath/isolation";

import type { Plan } from "../../../platform/plan.ts";
import type { ClusterPaths } from "../state/paths.ts";
import { type AccountNumbers, openAccountNumbers } from "./account-numbers.ts";
import { type AccountMeans, findAccountMeans } from "./find-obstacle.ts";
import { INGRESS } from "../launch/ingress-spec.ts";
import { INGRESS_ACCOUNT, STATUS_SOCKET, type WorkloadAccount, planAccounts } from "./plan-accounts.ts";
import { linkCompiledCode } from "./compiled-code.ts";

/** The accounts that the services of a cluster of root's run as. */
export interface ServiceAccounts {
  readonly means: AccountMeans;
  readonly numbers: AccountNumbers;
  /** Group of those that may ask what there is in the cluster. */
  readonly statusGroup: number;
  /** Group of the ingress; undefined where it runs as root. */
  readonly ingressGroup: number | undefined;
  /** Accounts and sockets' groups by workload; the numbers are on disk when it returns. */
  readonly plan: (plan: Plan) => ReadonlyMap<string, WorkloadAccount>;
}

/** An engine for containers takes root, or a user that the machine knows: with one, what starts containers stays root's. */
export function confinesSandboxes({ settings }: Plan, { hasUserNamespaces }: AccountMeans): boolean {
  return hasUserNamespaces && findContainerEngine(settings.variables.CONTAINER_ENGINE).outcome !== "found";
}

/**
 * Opens the accounts of a cluster.
 * @param onObstacle called with the reason where there can be none, and services run as root
 * @returns undefined where services run as the operator
 */
export function openServiceAccounts(
  paths: ClusterPaths,
  onObstacle: (reason: string) => void,
): ServiceAccounts | undefined {
  if (process.getuid?.() !== 0) {
    return undefined;
  }
  const means = findAccountMeans();
  if ("reason" in means) {
    // What services write as root is root's from here on; the key of this supervisor says so to the next one.
    onObstacle(means.reason);
    return undefined;
  }
  const numbers = openAccountNumbers(paths);
  const statusGroup = numbers.numberOf(STATUS_SOCKET);
  // Node.js alone cannot keep the right to listen on ports below 1024.
  const ingressGroup = means.hasSetpriv ? numbers.numberOf(INGRESS_ACCOUNT) : undefined;
  numbers.save();
  return {
    means,
    numbers,
    statusGroup,
    ingressGroup,
    plan: (plan) => {
      const accounts = new Map(
        planAccounts(plan, numbers.numberOf, { confinesSandboxes: confinesSandboxes(plan, means) }),
      );
      if (ingressGroup === undefined) {
        accounts.delete(INGRESS);
      }
      numbers.save();
      linkCompiledCode(
        paths.compiled,
        [...accounts.values()].flatMap(({ account }) => (account === undefined ? [] : [account.uid])),
      );
      return accounts;
    },
  };
}
