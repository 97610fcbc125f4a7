import { type ContainerRequest, CwlError, type Executor } from "@swath/cwl";

/**
 * Has packages name images by dockerPull alone. A build runs what a stranger wrote next to the platform, with a cache that
 * users would share; an archive to load or import is a file of this machine, or an address that its engine reaches.
 */
export const pulledImagesOnly = (executor: Executor): Executor => ({
  ...executor,
  run: async (job, controls) => {
    const why = whyRefused(job.container);
    if (why !== undefined) {
      throw new CwlError("unsupported", `${job.name}: ${why}`);
    }
    return executor.run(job, controls);
  },
  ...(executor.noImageReason && {
    noImageReason: async (request: ContainerRequest, signal: AbortSignal) =>
      whyRefused(request) ?? (await executor.noImageReason?.(request, signal)),
  }),
});

function whyRefused(request: ContainerRequest | undefined): string | undefined {
  return request?.dockerfile === undefined && request?.load === undefined && request?.import === undefined
    ? undefined
    : "images are not built or loaded here; push the image to a registry and name it by dockerPull";
}
