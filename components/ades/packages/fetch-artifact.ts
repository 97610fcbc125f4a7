import { type Reference, type RegistryClient, RegistryRefusal, findPackageLayer } from "@swath/oci";

import { invalidParameter } from "../errors.ts";
import { MAX_PACKAGE_BYTES } from "./package-reader.ts";

/**
 * The text of an application package that is an artifact of the platform's registry, and the digest of the artifact.
 * @throws {OgcError} 400 for one that is no package, or that the user may not pull
 */
export async function fetchArtifact(
  client: RegistryClient,
  { host, repository, tag = "latest", digest: requested }: Reference,
): Promise<{ readonly text: string; readonly digest: string }> {
  const name = `${host}/${repository}${requested === undefined ? `:${tag}` : `@${requested}`}`;
  try {
    const { document, digest } = await client.readManifest(repository, requested ?? tag);
    const layer = findPackageLayer(document.layers ?? []);
    if (layer === undefined) {
      throw invalidParameter(`${name} is no application package: it has no layer of type application/cwl.`);
    }
    if (layer.size > MAX_PACKAGE_BYTES) {
      throw invalidParameter(`The application package ${name} has ${layer.size} bytes; allowed: ${MAX_PACKAGE_BYTES}.`);
    }
    const chunks: Buffer[] = [];
    for await (const chunk of await client.readBlob(repository, layer.digest, { size: layer.size })) {
      chunks.push(chunk);
    }
    const text = Buffer.concat(chunks).toString("utf8");
    return { text, digest };
  } catch (error) {
    if (error instanceof RegistryRefusal) {
      throw invalidParameter(`The application package ${name} cannot be read: ${error.message}`);
    }
    throw error;
  }
}
