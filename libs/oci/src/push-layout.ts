import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { type Descriptor, type ManifestDocument, isIndexType } from "./manifest.ts";
import { RegistryRefusal, digestOf } from "./registry-client.ts";
import type { RegistryWriter } from "./registry-writer.ts";
import { placeInLayout } from "./save-image.ts";

interface Target {
  readonly repository: string;
  readonly tag: string;
}

const MAX_MANIFEST_BYTES = 4 << 20;
const MAX_DEPTH = 8;
const REF_NAME = "org.opencontainers.image.ref.name";
const IMAGE = "application/vnd.oci.image.manifest.v1+json";

/** Pushes what an OCI layout holds: its only entry, or the one that is called like the tag. Gives its digest. */
export async function pushLayout(writer: RegistryWriter, folder: string, { repository, tag }: Target): Promise<string> {
  const { manifests = [] } = JSON.parse((await readBounded(join(folder, "index.json"))).toString()) as ManifestDocument;
  const named = manifests.filter(({ annotations }) => annotations?.[REF_NAME] === tag);
  const [root, ...others] = named.length > 0 ? named : manifests;
  if (root === undefined || others.length > 0) {
    const names = manifests.map(({ annotations, digest }) => annotations?.[REF_NAME] ?? digest);
    throw new Error(
      `the layout has ${manifests.length} images (${names.join(", ").slice(0, 500)}); name one of them as the tag`,
    );
  }
  await pushTree(writer, folder, root, { repository, reference: tag, depth: 0 });
  return root.digest;
}

interface Branch {
  readonly repository: string;
  readonly reference: string;
  readonly depth: number;
}

/** What a manifest refers to comes first. */
async function pushTree(
  writer: RegistryWriter,
  folder: string,
  { digest, mediaType }: Descriptor,
  { repository, reference, depth }: Branch,
): Promise<void> {
  const content = await readBounded(placeInLayout(folder, digest));
  if (digestOf(content, digest) !== digest || depth > MAX_DEPTH) {
    throw new RegistryRefusal(400, `The manifest ${digest} in the layout is damaged, or too deep.`);
  }
  const document = JSON.parse(content.toString()) as ManifestDocument;
  for (const child of isIndexType(mediaType) ? (document.manifests ?? []) : []) {
    await pushTree(writer, folder, child, { repository, reference: child.digest, depth: depth + 1 });
  }
  for (const blob of [...(document.config ? [document.config] : []), ...(document.layers ?? [])]) {
    const path = placeInLayout(folder, blob.digest);
    const { size } = await stat(path);
    await writer.pushBlob(repository, { digest: blob.digest, size, open: () => createReadStream(path) });
  }
  await writer.pushManifest(repository, reference, mediaType, content);
}

async function readBounded(path: string): Promise<Buffer> {
  const { size } = await stat(path);
  if (size > MAX_MANIFEST_BYTES) {
    throw new RegistryRefusal(400, `${path} has more than ${MAX_MANIFEST_BYTES} bytes, which is no manifest.`);
  }
  return readFile(path);
}

/** Pushes a CWL document as an application package: an artifact of one layer. Gives its digest. */
export async function pushPackage(
  writer: RegistryWriter,
  { repository, tag }: Target,
  { text, name }: { readonly text: Buffer; readonly name: string },
): Promise<string> {
  const empty = Buffer.from("{}");
  const layer = {
    mediaType: "application/cwl",
    digest: digestOf(text),
    size: text.length,
    annotations: { "org.opencontainers.image.title": name },
  };
  const config = { mediaType: "application/vnd.oci.empty.v1+json", digest: digestOf(empty), size: empty.length };
  const manifest = Buffer.from(
    JSON.stringify({ schemaVersion: 2, mediaType: IMAGE, artifactType: "application/cwl", config, layers: [layer] }),
  );
  await writer.pushBlob(repository, { ...config, open: () => empty });
  await writer.pushBlob(repository, { ...layer, open: () => text });
  await writer.pushManifest(repository, tag, IMAGE, manifest);
  return digestOf(manifest);
}
