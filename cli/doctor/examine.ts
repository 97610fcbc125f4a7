import { checkContainerEngine } from "./checks/container-engine.ts";
import { checkDisk } from "./checks/disk.ts";
import { checkHostTools } from "./checks/host-tools.ts";
import { checkMachine } from "./checks/machine.ts";
import { checkMemory } from "./checks/memory.ts";
import { checkNetwork } from "./checks/network.ts";
import { checkPrograms } from "./checks/programs.ts";
import type { Check, DoctorContext, Finding } from "./finding.ts";

/** What apply looks at as well, before it changes anything; each takes milliseconds. */
const PREREQUISITES: readonly Check[] = [checkMachine, checkDisk, checkPrograms];

const CHECKS: readonly Check[] = [...PREREQUISITES, checkMemory, checkNetwork, checkContainerEngine, checkHostTools];

/** Runs every check; the findings come in the order of the list. */
export async function examine(context: DoctorContext): Promise<readonly Finding[]> {
  return runChecks(CHECKS, context);
}

/** What other machines find at the public address. */
export async function examinePublic(context: DoctorContext): Promise<readonly Finding[]> {
  const { publicChecks } = await import("./checks/public.ts");
  return runChecks(publicChecks, context);
}

/** Findings with which a deployment would not work. */
export async function findObstacles(context: DoctorContext): Promise<readonly Finding[]> {
  return (await runChecks(PREREQUISITES, context)).filter(({ verdict }) => verdict === "bad");
}

async function runChecks(checks: readonly Check[], context: DoctorContext): Promise<readonly Finding[]> {
  return (await Promise.all(checks.map(async (check) => check(context)))).flat();
}
