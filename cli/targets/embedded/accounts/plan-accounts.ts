import type { EnvValue, SecretEntry, Workload } from "@swath/manifest";

import type { Plan } from "../../../platform/plan.ts";
import { INGRESS } from "../launch/ingress-spec.ts";

/** Who a pod runs as. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
  /** Groups of its own sockets, and of those of others that it may open. */
  readonly groups: readonly number[];
  /** Rights of root's that it keeps. */
  readonly capabilities?: readonly string[];
}

export interface WorkloadAccount {
  /** Undefined: the operator's user. */
  readonly account: Account | undefined;
  /** Group that may open a port's socket, by the port. */
  readonly socketGroups: Readonly<Record<string, number>>;
}

/** What its number is for. */
export const INGRESS_ACCOUNT = "component/ingress";

/** A socket of the supervisor's: what services may know of the cluster. */
export const STATUS_SOCKET = "socket/supervisor/status";

/**
 * An account for each component, and a group for each socket, whose members are the components that the plan gives its address to.
 * @param numberOf gives each purpose a number that nothing else has
 * @param confinesSandboxes whether programs that make sandboxes need nothing of root's
 */
export function planAccounts(
  plan: Plan,
  numberOf: (purpose: string) => number,
  { confinesSandboxes }: { readonly confinesSandboxes: boolean },
): ReadonlyMap<string, WorkloadAccount> {
  return new Map([
    [INGRESS, planIngress(plan, numberOf)],
    ...plan.workloads.map((workload) => {
      const own = (workload.ports ?? []).map(({ name }) => [name, numberOf(socketOf(workload.name, name))] as const);
      return [
        workload.name,
        { account: accountOf(workload, own), socketGroups: Object.fromEntries(own) } satisfies WorkloadAccount,
      ] as const;
    }),
  ]);

  function accountOf(workload: Workload, own: readonly (readonly [string, number])[]): Account | undefined {
    if (workload.account === "database" || (workload.account === "sandbox" && !confinesSandboxes)) {
      return undefined;
    }
    const id = numberOf(`component/${workload.component}`);
    const reached = Object.values(workload.env).flatMap((value) => listSockets(value, workload, plan));
    const groups = new Set([...own.map(([, group]) => group), ...reached.map((socket) => numberOf(socket))]);
    return { uid: id, gid: id, groups: [...groups].sort((a, b) => a - b) };
  }
}

/** It reaches what hosts lead to, and may listen on ports below 1024. */
function planIngress({ routes }: Plan, numberOf: (purpose: string) => number): WorkloadAccount {
  const id = numberOf(INGRESS_ACCOUNT);
  const groups = new Set(routes.map(({ workload, port }) => numberOf(socketOf(workload, port))));
  return {
    account: { uid: id, gid: id, groups: [...groups].sort((a, b) => a - b), capabilities: ["net_bind_service"] },
    socketGroups: {},
  };
}

const socketOf = (workload: string, port: string): string => `socket/${workload}/${port}`;

/** The sockets whose addresses a value of the environment holds. */
function listSockets(value: EnvValue | SecretEntry, workload: Workload, plan: Plan): readonly string[] {
  if (typeof value === "string") {
    return [];
  }
  if ("peer" in value) {
    return [socketOf(value.peer, value.port ?? "http")];
  }
  if ("database" in value) {
    return plan.database.kind === "deployed" ? [socketOf(plan.database.workload, "postgres")] : [];
  }
  if ("platform" in value) {
    return [STATUS_SOCKET];
  }
  if ("kind" in value && value.kind === "joined") {
    return value.parts.flatMap((part) => listSockets(part, workload, plan));
  }
  if ("secret" in value) {
    const secret = plan.secrets.find(
      ({ name, namespace }) => name === value.secret && namespace === workload.namespace,
    );
    const entry = secret?.entries[value.key];
    return entry === undefined ? [] : listSockets(entry, workload, plan);
  }
  return [];
}
