import { checkContainerEngine } from "./checks/container-engine.ts";
import { checkDisk } from "./checks/disk.ts";
import { checkHostTools } from "./checks/host-tools.ts";
import { checkMachine } from "./checks/machine.ts";
import { checkMemory } from "./checks/memory.ts";
import { checkNetwork } from "./checks/network.ts";
import { checkPrograms } from "./checks/programs.ts";
import type { Check, DoctorContext, Finding } from "./finding.ts";

const CHECKS: readonly Check[] = [
  checkMachine,
  checkMemory,
  checkDisk,
  checkNetwork,
  checkContainerEngine,
  checkHostTools,
  checkPrograms,
];

/** Runs every check; the findings come in the order of the list. */
export async function examine(context: DoctorContext): Promise<readonly Finding[]> {
  return (await Promise.all(CHECKS.map(async (check) => check(context)))).flat();
}
