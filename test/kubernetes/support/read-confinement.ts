import { mustKubectl } from "@swath/testing/kubernetes";

/** What the kernel holds every process of a pod to: a filter of system calls, no new rights, no capability. */
export const CONFINED: Readonly<Record<string, string>> = {
  CapBnd: "0000000000000000",
  CapEff: "0000000000000000",
  NoNewPrivs: "1",
  Seccomp: "2",
};

/** The same of a program in a container, which has Node.js, as the kernel says it. */
export async function readConfinement(
  namespace: string,
  pod: string,
  container: string,
): Promise<Readonly<Record<string, string>>> {
  const program = "require('fs').readFileSync('/proc/self/status', 'utf8')";
  const status = await mustKubectl(["exec", "-n", namespace, pod, "-c", container, "--", "node", "-p", program]);
  const fields = status.split("\n").map((line) => line.split(/:\s+/));
  return Object.fromEntries(
    fields.filter(([name = ""]) => name in CONFINED).map(([name, value = ""]) => [name, value]),
  );
}
