import { RegistryError } from "../errors.ts";
import { findDigest } from "./digest.ts";

export const MAX_MANIFEST_BYTES = 4 << 20;
const MAX_REFERENCES = 10_000;

const IMAGES = new Set([
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
]);
const INDEXES = new Set([
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
]);
/** Layers that clients fetch from elsewhere and do not push. */
const FOREIGN_LAYER =
  /^application\/vnd\.(?:oci\.image\.layer\.nondistributable\.v1|docker\.image\.rootfs\.foreign\.diff)\.tar(?:[.+](?:gzip|zstd))?$/;

/** What the registry reads out of a manifest. */
export interface ParsedManifest {
  readonly mediaType: string;
  readonly isIndex: boolean;
  /** Digests of config and layers that have to be there. */
  readonly blobs: readonly string[];
  /** Digests of the manifests of an index. */
  readonly children: readonly string[];
  readonly subject: string | undefined;
  readonly artifactType: string | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  /** Sizes of the blobs as the descriptors say them, by digest. */
  readonly sizes: ReadonlyMap<string, number>;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/**
 * Reads a manifest and checks its form.
 * @throws {RegistryError} MANIFEST_INVALID saying what is wrong
 */
export function parseManifest(content: Buffer, contentType: string | undefined): ParsedManifest {
  const document = parseObject(content);
  const declared = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  const own = document["mediaType"];
  if (own !== undefined && typeof own !== "string") {
    throw invalid("mediaType must be a text");
  }
  if (own !== undefined && declared !== undefined && declared !== own) {
    throw invalid(`Content-Type ${declared} is not the mediaType ${own} of the manifest`);
  }
  const mediaType = declared ?? own ?? "";
  const isIndex = INDEXES.has(mediaType);
  if (!isIndex && !IMAGES.has(mediaType)) {
    throw invalid(
      `the media type ${JSON.stringify(mediaType.slice(0, 200))} is not supported; send an OCI or Docker schema 2 manifest`,
    );
  }
  if (document["schemaVersion"] !== 2) {
    throw invalid("schemaVersion must be 2");
  }
  // A document that is both would be read as one by some clients and as the other by the rest.
  if (isIndex ? "layers" in document || "config" in document : "manifests" in document) {
    throw invalid("it has the fields of an image and of an index");
  }
  const config = isIndex ? undefined : parseDescriptor(document["config"], "config");
  const layers = isIndex ? [] : parseDescriptors(document["layers"] ?? [], "layers");
  const manifests = isIndex ? parseDescriptors(document["manifests"] ?? [], "manifests") : [];
  const present = layers.filter(({ mediaType: type }) => !FOREIGN_LAYER.test(type));
  const blobs = config === undefined ? [] : [config, ...present];
  const artifactType = document["artifactType"];
  if (artifactType !== undefined && (typeof artifactType !== "string" || !isPlain(artifactType))) {
    throw invalid("artifactType must be a media type");
  }
  return {
    mediaType,
    isIndex,
    blobs: unique(blobs),
    children: unique(manifests),
    subject: document["subject"] === undefined ? undefined : parseDescriptor(document["subject"], "subject").digest,
    artifactType: artifactType ?? config?.mediaType,
    annotations: parseAnnotations(document["annotations"]),
    sizes: new Map(blobs.map(({ digest, size }) => [digest, size])),
  };
}

function parseObject(content: Buffer): Readonly<Record<string, unknown>> {
  let document: unknown;
  try {
    document = JSON.parse(content.toString("utf8"));
  } catch {
    throw invalid("it is not JSON");
  }
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw invalid("it is not a JSON object");
  }
  return document as Readonly<Record<string, unknown>>;
}

function parseDescriptors(value: unknown, field: string): readonly Descriptor[] {
  if (!Array.isArray(value) || value.length > MAX_REFERENCES) {
    throw invalid(`${field} must be a list of at most ${MAX_REFERENCES} descriptors`);
  }
  return value.map((item, index) => parseDescriptor(item, `${field}[${index}]`));
}

function parseDescriptor(value: unknown, field: string): Descriptor {
  const { mediaType, digest, size } = (value ?? {}) as Partial<Descriptor>;
  if (typeof mediaType !== "string" || mediaType === "" || !isPlain(mediaType)) {
    throw invalid(`${field}.mediaType must be a media type`);
  }
  if (typeof digest !== "string" || findDigest(digest) === undefined) {
    throw invalid(`${field}.digest must be a sha256 or sha512 digest`);
  }
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) {
    throw invalid(`${field}.size must be a number of bytes`);
  }
  return { mediaType, digest, size };
}

function parseAnnotations(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value !== "object" || Array.isArray(value)) {
    throw invalid("annotations must be an object");
  }
  const entries = Object.entries(value);
  if (entries.some(([key, text]) => typeof text !== "string" || !isPlain(key + text))) {
    throw invalid("keys and values of annotations must be texts without NUL");
  }
  return value as Readonly<Record<string, string>>;
}

/** What the database takes as text. */
function isPlain(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

const unique = (descriptors: readonly Descriptor[]): readonly string[] =>
  [...new Set(descriptors.map(({ digest }) => digest))].toSorted();

function invalid(why: string): RegistryError {
  return new RegistryError("MANIFEST_INVALID", `The manifest is invalid: ${why}.`);
}
