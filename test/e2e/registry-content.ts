import assert from "node:assert/strict";

import { type RegistryClient, digestOf, imageOf } from "../../components/registry/test/client.ts";

const CWL = "cwlVersion: v1.2\n$graph: []\n";

/** An image whose layers come with their commands, and a signature of it. */
export async function pushImageWithHistory(admin: RegistryClient): Promise<void> {
  const layers = [Buffer.alloc(40_000, 1), Buffer.alloc(9000, 2)];
  const config = Buffer.from(
    JSON.stringify({
      architecture: "amd64",
      os: "linux",
      created: "2026-03-01T00:00:00Z",
      history: [
        { created_by: "/bin/sh -c #(nop) ADD file:1 in /" },
        { created_by: "ENV A=1", empty_layer: true },
        { created_by: "RUN make ndvi" },
      ],
    }),
  );
  for (const blob of [config, ...layers]) {
    await admin.pushBlob("ws-eric/tools/ndvi", blob);
  }
  const { headers } = await admin.putManifest("ws-eric/tools/ndvi", "1.2", imageOf(config, layers));
  const empty = Buffer.from("{}");
  await admin.pushBlob("ws-eric/tools/ndvi", empty);
  const subject = headers.get("docker-content-digest") ?? "";
  const size = Buffer.byteLength(JSON.stringify(imageOf(config, layers)));
  const signature = imageOf(empty, [empty], {
    artifactType: "application/vnd.cncf.notary.signature",
    subject: { mediaType: "application/vnd.oci.image.manifest.v1+json", digest: subject, size },
  });
  const { status } = await admin.putManifest("ws-eric/tools/ndvi", digestOf(JSON.stringify(signature)), signature);
  assert.equal(status, 201);
}

/** An application package. */
export async function pushPackage(admin: RegistryClient): Promise<void> {
  const [empty, cwl] = [Buffer.from("{}"), Buffer.from(CWL)];
  await admin.pushBlob("ws-eric/package", empty);
  await admin.pushBlob("ws-eric/package", cwl);
  const manifest = imageOf(empty, [], {
    artifactType: "application/cwl",
    layers: [{ mediaType: "application/cwl", digest: digestOf(cwl), size: cwl.length }],
  });
  assert.equal((await admin.putManifest("ws-eric/package", "1.0", manifest)).status, 201);
}
