import type { PodStatus } from "../../targets/pod-status.ts";
import type { Target } from "../../targets/target.ts";
import { CommandError } from "../command.ts";

/**
 * The pod of this name, or the newest of the workload of this name.
 * @throws {CommandError} when there is none, saying which there are
 */
export async function findPod(target: Target, name: string): Promise<PodStatus> {
  const pods = await target.listPods();
  const found = pods.find((pod) => pod.name === name) ?? pods.findLast((pod) => pod.workload === name);
  if (found === undefined) {
    throw new CommandError(`there is no pod "${name}"; there are: ${pods.map((pod) => pod.name).join(", ") || "none"}`);
  }
  return found;
}
