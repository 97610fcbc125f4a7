import { type ContainerRequest, CwlError, type Executor } from "@swath/cwl";
import { type RegistryClient, RegistryRefusal } from "@swath/oci";

import type { Login, PlatformRegistry } from "./platform-registry.ts";
import { referenceOf } from "./resolve-images.ts";

interface ImageOptions {
  readonly registry: PlatformRegistry | undefined;
  /** Whose rights count. */
  readonly owner: string;
  /** Digests of images, by the names that the package has for them. */
  readonly images: Readonly<Record<string, string>>;
  /** How the executor gets an image that the owner may pull. */
  readonly provide: (image: PulledImage, request: ContainerRequest) => Promise<ContainerRequest>;
}

export interface PulledImage {
  readonly client: RegistryClient;
  readonly login: Login;
  readonly repository: string;
  readonly digest: string;
  /** `registry.example.org/eric/tools@sha256:…` */
  readonly name: string;
  readonly signal: AbortSignal;
}

/**
 * Has tools run in images of the platform's registry only where the owner of the job may pull them, by the digests that were found
 * when the package was deployed. It is asked for every command: an image that is on the machine already is nobody's right.
 */
export function withPlatformImages(executor: Executor, options: ImageOptions): Executor {
  return {
    ...executor,
    run: async (job, controls) => {
      const container = job.container && (await replace(job.container, options, controls.signal));
      return executor.run({ ...job, container }, controls);
    },
    ...(executor.noImageReason && {
      noImageReason: async (request: ContainerRequest, signal: AbortSignal) => {
        try {
          return await executor.noImageReason?.(await replace(request, options, signal), signal);
        } catch (error) {
          if (error instanceof CwlError && error.code !== "infrastructure" && !signal.aborted) {
            return error.message;
          }
          throw error;
        }
      },
    }),
  };
}

async function replace(
  requested: ContainerRequest,
  { registry, owner, images, provide }: ImageOptions,
  signal: AbortSignal,
): Promise<ContainerRequest> {
  const names = [requested.image, ...(requested.pull === undefined ? [] : [requested.pull])];
  names.forEach(checkName);
  const image = requested.pull ?? requested.image;
  // A dockerImageId beside it is a name on this machine, where it may be another user's image.
  const request = { ...requested, image };
  const reference = registry?.find(image);
  if (registry === undefined || reference === undefined) {
    return request;
  }
  const { repository } = reference;
  try {
    const client = await registry.clientOf(owner);
    const { digest } = await client.readManifest(repository, images[image] ?? referenceOf(reference), signal);
    const login = await registry.logIn(owner);
    const name = `${registry.host}/${repository}@${digest}`;
    return await provide({ client, login, repository, digest, name, signal }, request);
  } catch (error) {
    if (error instanceof CwlError) {
      throw error;
    }
    signal.throwIfAborted();
    const isFinal = error instanceof RegistryRefusal && error.status < 500 && error.status !== 429;
    throw new CwlError(
      isFinal ? "unsupported" : "infrastructure",
      `the image ${image} cannot be pulled for ${owner}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

const NAME = /^(?:[\w.-]+(?::\d+)?\/)?[\w.-]+(?:\/[\w.-]+)*(?::[\w.-]+)?(?:@sha\d+:[a-f0-9]+)?$/;

/** Engines take the id of an image, and files of the machine, for names too: with them a tool would run what others pulled. */
function checkName(name: string): void {
  if (name === "") {
    return;
  }
  if (!NAME.test(name) || /^(?:sha256:)?[a-f0-9]+$/.test(name) || /^(?:localhost\/)?swath-cwl\//.test(name)) {
    throw new CwlError("unsafe", `${name.slice(0, 200)} is not taken for an image; name its repository and its tag`);
  }
}
