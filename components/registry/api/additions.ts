import type { Readable } from "node:stream";

import { type ManifestDocument, findPackageLayer } from "@swath/oci";
import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";

import { findDigest } from "../protocol/digest.ts";
import { isTag } from "../protocol/names.ts";
import { SBOM_TYPE, readSbom } from "../signatures/sbom.ts";
import { findArtifact } from "../store/browse.ts";
import { findLinkedBlob } from "../store/links.ts";
import { readManifestContent } from "../store/manifests.ts";
import { type ApiContext, requireRepository } from "./context.ts";

const ADDITIONS = "/projects/:project/repositories/:repository/artifacts/:reference/additions";
/** A config or a package is read into memory; those that people write are far below. */
const MAX_DOCUMENT_BYTES = 4 << 20;

/** What an artifact is made of, for people: its manifest, its config with the history, the text of an application package. */
export function addAdditionRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database, blobs } = context;

  const readManifest = async (request: FastifyRequest) => {
    const { repository, repositoryId } = await requireRepository(context, request, "pull");
    const { reference } = request.params as { reference: string };
    const isReference = findDigest(reference) !== undefined || isTag(reference);
    const artifact = isReference ? await findArtifact(database, repositoryId, reference) : undefined;
    const content = artifact && (await readManifestContent(database, repository, artifact.digest));
    if (content === undefined) {
      throw new Problem(404, `The artifact ${repository}@${reference.slice(0, 140)} does not exist.`);
    }
    return { repository, content, document: JSON.parse(content.toString("utf8")) as ManifestDocument };
  };
  const readBlob = async (repository: string, digest: string): Promise<Buffer> => {
    const blob = await findLinkedBlob(database, repository, digest);
    if (blob === undefined) {
      throw new Problem(404, `The content ${digest} does not exist.`);
    }
    if (blob.size > MAX_DOCUMENT_BYTES) {
      throw new Problem(413, `The content ${digest} has more than ${MAX_DOCUMENT_BYTES} bytes; pull it instead.`);
    }
    return blob.size === 0
      ? Buffer.alloc(0)
      : collect(await blobs.read(blob.storageId, { start: 0, end: blob.size - 1 }));
  };
  const readConfig = async (request: FastifyRequest): Promise<Readonly<Record<string, unknown>>> => {
    const { repository, document } = await readManifest(request);
    if (document.config === undefined || !document.config.mediaType.endsWith("json")) {
      throw new Problem(404, "The artifact has no config that is JSON.");
    }
    return parseObject(await readBlob(repository, document.config.digest));
  };

  app.get(`${ADDITIONS}/manifest`, async (request, reply) =>
    reply.type("application/json").send((await readManifest(request)).content),
  );
  app.get(`${ADDITIONS}/config`, readConfig);
  app.get(`${ADDITIONS}/build_history`, async (request) => {
    const { history } = await readConfig(request);
    return Array.isArray(history) ? history : [];
  });
  // What a bill of materials names: of the artifact that is one.
  app.get(`${ADDITIONS}/sbom`, async (request) => {
    const { repository, document } = await readManifest(request);
    const layer = (document.layers ?? []).find(({ mediaType }) => SBOM_TYPE.test(mediaType));
    const sbom = layer && readSbom(await readBlob(repository, layer.digest));
    if (sbom === undefined) {
      throw new Problem(404, "The artifact is not a bill of materials in SPDX or CycloneDX JSON.");
    }
    return sbom;
  });
  app.get(`${ADDITIONS}/package`, async (request, reply) => {
    const { repository, document } = await readManifest(request);
    const layer = findPackageLayer(document.layers ?? []);
    if (layer === undefined) {
      throw new Problem(404, "The artifact is not an application package: it has no layer of type application/cwl.");
    }
    return reply.type("text/plain; charset=utf-8").send(await readBlob(repository, layer.digest));
  });
}

async function collect(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function parseObject(content: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(content.toString("utf8"));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Readonly<Record<string, unknown>>;
    }
  } catch {
    // Said below: whoever pushed it called it JSON.
  }
  throw new Problem(404, "The config of the artifact is not a JSON object.");
}
