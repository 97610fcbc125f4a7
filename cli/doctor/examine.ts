import { checkAccounts } from "./checks/accounts.ts";
import { checkContainerEngine } from "./checks/container-engine.ts";
import { checkDisk } from "./checks/disk.ts";
import { checkHostTools } from "./checks/host-tools.ts";
import { checkMachine } from "./checks/machine.ts";
import { MEMORY, checkMemory } from "./checks/memory.ts";
import { checkNetwork } from "./checks/network.ts";
import { checkPrograms } from "./checks/programs.ts";
import { checkSystem } from "./checks/system.ts";
import type { Check, DoctorContext, Finding } from "./finding.ts";

/** What apply looks at as well, before it changes anything; each takes milliseconds, and trying the isolation a moment. Ports are chosen before. */
const PREFLIGHT: readonly Check[] = [
  checkMachine,
  checkSystem,
  checkDisk,
  checkPrograms,
  checkMemory,
  checkAccounts,
  checkHostTools,
];

const CHECKS: readonly Check[] = [...PREFLIGHT, checkNetwork, checkContainerEngine];

/** Runs every check; the findings come in the order of the list. */
export async function examine(context: DoctorContext): Promise<readonly Finding[]> {
  return runChecks(CHECKS, context);
}

/** What other machines find at the public address. */
export async function examinePublic(context: DoctorContext): Promise<readonly Finding[]> {
  const { publicChecks } = await import("./checks/public.ts");
  return runChecks(publicChecks, context);
}

export interface Preflight {
  /** With these, a deployment would not work. */
  readonly obstacles: readonly Finding[];
  /** It works, and something that people may want does not. */
  readonly limits: readonly Finding[];
}

/** What keeps a deployment from working here, or will be missing in it. */
export async function examineFirst(context: DoctorContext): Promise<Preflight> {
  const findings = await runChecks(PREFLIGHT, context);
  const isObstacle = ({ verdict, subject }: Finding) => verdict === "bad" && subject !== MEMORY;
  return {
    obstacles: findings.filter(isObstacle),
    // Memory that is short now may be free in a minute: who deploys is told, and not kept from it.
    limits: findings.filter((finding) => finding.verdict !== "good" && !isObstacle(finding)),
  };
}

async function runChecks(checks: readonly Check[], context: DoctorContext): Promise<readonly Finding[]> {
  return (await Promise.all(checks.map(async (check) => check(context)))).flat();
}
