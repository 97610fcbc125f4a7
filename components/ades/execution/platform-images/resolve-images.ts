import { type Reference, RegistryRefusal } from "@swath/oci";

import { invalidParameter } from "../../errors.ts";
import type { NamedImage } from "../../packages/tool-requirements.ts";
import type { PlatformRegistry } from "./platform-registry.ts";

const MAX_IMAGES = 100;

/**
 * Digests of the images of the platform's registry that a package names, by its names for them: a tag that is moved later changes
 * nothing for what is deployed.
 * @throws {OgcError} 400 for one that a tool demands and its owner may not pull
 */
export async function resolveImages(
  registry: PlatformRegistry | undefined,
  owner: string,
  images: readonly NamedImage[],
): Promise<Readonly<Record<string, string>>> {
  const own = images.flatMap(({ image, required }) => {
    const reference = registry?.find(image);
    return reference === undefined ? [] : [{ image, required, reference }];
  });
  if (registry === undefined || own.length === 0) {
    return {};
  }
  if (own.length > MAX_IMAGES) {
    throw invalidParameter(
      `The package names ${own.length} images of the platform's registry; allowed: ${MAX_IMAGES}.`,
    );
  }
  const client = await registry.clientOf(owner);
  const digests: [string, string][] = [];
  for (const { image, required, reference } of own) {
    try {
      const { digest } = await client.readManifest(reference.repository, referenceOf(reference));
      digests.push([image, digest]);
    } catch (error) {
      if (!(error instanceof RegistryRefusal)) {
        throw error;
      }
      if (required) {
        throw invalidParameter(`The image ${image} cannot be pulled for ${owner}: ${error.message}`);
      }
    }
  }
  return Object.fromEntries(digests);
}

/** The digest where there is one, else the tag. */
export const referenceOf = ({ digest, tag = "latest" }: Reference): string => digest ?? tag;
