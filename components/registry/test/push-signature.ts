import { type KeyObject, sign } from "node:crypto";

import { IMAGE, type RegistryClient, digestOf, imageOf } from "./client.ts";

interface Signature {
  readonly repository: string;
  /** What the signature is attached to, and what it speaks of. */
  readonly subject: string;
  readonly of?: string;
  readonly key: KeyObject;
  /** Where registries know no subjects. */
  readonly tag?: string;
}

/** Signs an image as cosign does, and gives the reference of the signature. */
export async function pushSignature(
  client: RegistryClient,
  { repository, subject, of = subject, key, tag }: Signature,
): Promise<string> {
  const critical = {
    identity: { "docker-reference": repository },
    image: { "docker-manifest-digest": of },
    type: "cosign container image signature",
  };
  const payload = Buffer.from(JSON.stringify({ critical, optional: null }));
  const config = Buffer.from("{}");
  await client.pushBlob(repository, payload);
  await client.pushBlob(repository, config);
  const layers = [
    {
      mediaType: "application/vnd.dev.cosign.simplesigning.v1+json",
      digest: digestOf(payload),
      size: payload.length,
      annotations: { "dev.cosignproject.cosign/signature": sign("sha256", payload, key).toString("base64") },
    },
  ];
  const manifest = imageOf(config, [], {
    layers,
    ...(tag === undefined && {
      artifactType: "application/vnd.dev.cosign.artifact.sig.v1+json",
      subject: { mediaType: IMAGE, digest: subject, size: 1 },
    }),
  });
  const reference = tag ?? digestOf(JSON.stringify(manifest));
  const { status, body } = await client.putManifest(repository, reference, manifest);
  if (status !== 201) {
    throw new Error(`the signature was refused with ${status}: ${body.toString()}`);
  }
  return reference;
}
