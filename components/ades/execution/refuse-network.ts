import { CwlError, type Executor } from "@swath/cwl";

/** Tools that demand the network are refused; those that could do without (a hint, or CWL v1.0, which implies it) run without. */
export const withoutNetwork = (executor: Executor): Executor =>
  refuseNetwork(executor, () => true, {
    demanded:
      "the tool asks for the network (NetworkAccess), which the operator has not allowed (PROCESSING_TOOL_NETWORK names users and processes)",
    hinted: "which the operator has not allowed (PROCESSING_TOOL_NETWORK names users and processes)",
  });

/** A container's network reaches this machine and its neighbours, so there is none; a pod's is the cluster's to limit. */
export const withNetworkOfEngine = (executor: Executor): Executor =>
  refuseNetwork(executor, ({ kind }) => kind === "podman" || kind === "docker", {
    demanded:
      "tools in containers have no network on this machine, since the engine's would reach the platform itself; run the tool without a container, or on Kubernetes",
    hinted: "which tools in containers have none of on this machine",
  });

const refuseNetwork = (
  executor: Executor,
  applies: (executor: Executor) => boolean,
  why: { readonly demanded: string; readonly hinted: string },
): Executor => ({
  ...executor,
  run: async (job, controls) => {
    if (!job.network || !applies(executor)) {
      return executor.run(job, controls);
    }
    if (job.networkIsHint !== true) {
      throw new CwlError("unsupported", `${job.name}: ${why.demanded}`);
    }
    controls.onLog(`Running without the network, ${why.hinted}.\n`);
    return executor.run({ ...job, network: false }, controls);
  },
});
