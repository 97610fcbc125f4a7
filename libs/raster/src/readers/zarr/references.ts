import { createHash } from "node:crypto";
import { posix } from "node:path";

import { type AsyncReadable, type RangeQuery, withRangeCoalescing } from "zarrita";

import { RasterError, invalidRaster } from "../../errors.ts";
import { MAX_METADATA_BYTES, MAX_STORED_BLOCK_BYTES } from "../../limits.ts";
import { openSource } from "../../sources/open-source.ts";
import type { Source, SourceLocation } from "../../sources/source.ts";
import { checkCount } from "./check-count.ts";
import { checkMetadata } from "./check-metadata.ts";
import type { Hierarchy } from "./hierarchy.ts";
import { METADATA, pathOf, withPath } from "./location-path.ts";
import { recordOf } from "../cube/record-of.ts";

/** A part of a file, or all of it. */
export type Reference = readonly [address: string, offset?: number, length?: number];

const MAX_ADDRESS_CHARACTERS = 4000;
/** `{{name}}` of the templates; the expressions of Jinja, which they could be as well, are not evaluated. */
const TEMPLATE = /\{\{\s*(\w+)\s*\}\}/g;

/**
 * Reads references of version 0 or 1 (fsspec `ReferenceFileSystem`): each key of a Zarr hierarchy has its content, or a file with a part of it.
 * Files are those that a stranger names: only what is beside the references, in the same bucket, or, where the references have a
 * public address, at another one.
 * @throws {RasterError} `unsupported` for JSON that is none, or references that are generated
 */
export async function readReferences(
  source: Source,
  location: SourceLocation,
  signal?: AbortSignal,
): Promise<Hierarchy> {
  const bytes = await source.read(0, MAX_METADATA_BYTES, signal);
  if (bytes.length === MAX_METADATA_BYTES) {
    throw new RasterError("too-large", "The references are larger than what is read.");
  }
  await checkMetadata(bytes);
  const document = recordOf(parse(bytes));
  const entries = recordOf(document?.["refs"]) ?? document ?? {};
  if (document?.["gen"] !== undefined) {
    throw new RasterError("unsupported", "References that are generated (`gen`) are not read; write them out.");
  }
  const templates = recordOf(document?.["templates"]) ?? {};
  const files = new Map<string, Uint8Array | Reference>();
  for (const [key, value] of Object.entries(entries)) {
    const file = typeof value === "string" ? toBytes(value) : (toReference(value) ?? toDocument(value));
    if (file !== undefined) {
      files.set(`/${key.replace(/^\/+/, "")}`, file);
    }
  }
  const arrays = [...files.keys()].flatMap((key) =>
    key.endsWith("/.zarray") ? [key.slice(1, -"/.zarray".length)] : [],
  );
  if (arrays.length === 0) {
    throw new RasterError("unsupported", "The file is JSON, but no references to Zarr data of version 2.");
  }
  checkCount(arrays);
  const digest = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
  return {
    files: withRangeCoalescing(
      createReferenceStore(
        async (key) => files.get(key),
        (address) => locateReference(fill(address, templates), location),
      ),
    ),
    digest: () => digest,
    version: 2,
    path: "",
    arrays,
  };
}

/**
 * Keys of a Zarr hierarchy with what references say of them.
 * @param locate where an address of theirs leads to; throws for those that they may not lead to
 */
export function createReferenceStore(
  find: (key: string, signal: AbortSignal | undefined) => Promise<Uint8Array | Reference | undefined>,
  locate: (address: string) => SourceLocation,
): AsyncReadable {
  const read = async (key: string, range: RangeQuery | undefined, signal: AbortSignal | undefined) => {
    const file = await find(key, signal);
    if (file === undefined) {
      return undefined;
    }
    if (file instanceof Uint8Array) {
      return cut(file, range);
    }
    // Metadata that lies elsewhere could lead anywhere.
    if (METADATA.test(key)) {
      throw new RasterError("unsupported", "The metadata of references has to be in them.");
    }
    const [address, offset = 0, length = MAX_STORED_BLOCK_BYTES] = file;
    const part = toPart(range, length);
    const source = await openSource(locate(address));
    try {
      const found = await source.read(offset + part.offset, part.length, signal);
      if (found.length === MAX_STORED_BLOCK_BYTES) {
        throw invalidRaster("A piece of the Zarr data is larger than what is read.");
      }
      return found;
    } finally {
      await source.close();
    }
  };
  return {
    get: (key, options) => read(key, undefined, options?.signal),
    getRange: (key, range, options) => read(key, range, options?.signal),
  };
}

function toPart(range: RangeQuery | undefined, length: number): { readonly offset: number; readonly length: number } {
  if (range === undefined) {
    return { offset: 0, length };
  }
  const asked = "suffixLength" in range ? range.suffixLength : range.length;
  const offset = "suffixLength" in range ? Math.max(0, length - range.suffixLength) : range.offset;
  if (!(asked >= 0 && offset >= 0 && offset + asked <= length)) {
    throw invalidRaster(`A piece of the Zarr data claims ${asked} bytes.`);
  }
  return { offset, length: asked };
}

function cut(bytes: Uint8Array, range: RangeQuery | undefined): Uint8Array {
  const { offset, length } = toPart(range, bytes.length);
  return bytes.subarray(offset, offset + length);
}

function toReference(value: unknown): Reference | undefined {
  const [address, offset, length] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const isPart = [offset, length].every(
    (each) => each === undefined || (Number.isSafeInteger(each) && Number(each) >= 0),
  );
  if (typeof address !== "string" || !isPart || Number(length ?? 0) > MAX_STORED_BLOCK_BYTES) {
    return undefined;
  }
  return [address, offset as number | undefined, length as number | undefined].filter(
    (each) => each !== undefined,
  ) as unknown as Reference;
}

/** Content that stands in the references: text, bytes in Base64, or, as newer versions have metadata, an object. */
const toBytes = (text: string): Uint8Array =>
  text.startsWith("base64:") ? Buffer.from(text.slice("base64:".length), "base64") : Buffer.from(text);

const toDocument = (value: unknown): Uint8Array | undefined =>
  recordOf(value) === undefined ? undefined : Buffer.from(JSON.stringify(value));

function fill(address: string, templates: Readonly<Record<string, unknown>>): string {
  const filled = address.replaceAll(TEMPLATE, (whole, name: string) => {
    const value = Object.hasOwn(templates, name) ? templates[name] : undefined;
    return typeof value === "string" ? value : whole;
  });
  if (filled.length > MAX_ADDRESS_CHARACTERS || filled.includes("{{")) {
    throw new RasterError("unsupported", "The references have a template that is not read.");
  }
  return filled;
}

/** Where a file is that references name. @throws {RasterError} `forbidden` for any that they may not lead to */
export function locateReference(address: string, from: SourceLocation): SourceLocation {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address) ?? [];
  if (scheme === undefined) {
    return locateBeside(address, from);
  }
  const isPublic = from.kind === "http" && from.allowPrivate !== true && from.socketPath === undefined;
  if (/^https?$/i.test(scheme) && isPublic) {
    // Without the headers that the references were read with: they are for another host, perhaps.
    return { kind: "http", url: address };
  }
  if (/^s3$/i.test(scheme) && from.kind === "s3" && address.slice(5).startsWith(`${from.bucket}/`)) {
    return withPath(from, address.slice(5 + from.bucket.length + 1));
  }
  throw new RasterError("forbidden", `The references lead to ${scheme} addresses that they may not lead to.`);
}

function locateBeside(address: string, from: SourceLocation): SourceLocation {
  const parts = address.split("/");
  if (address.startsWith("/") || parts.includes("..") || /[\\\0?#]/.test(address)) {
    throw new RasterError("forbidden", "The references lead out of the folder that they are in.");
  }
  const names = from.kind === "http" ? parts.map(encodeURIComponent) : parts;
  return withPath(from, posix.join(posix.dirname(pathOf(from)), ...names));
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (cause) {
    throw invalidRaster("The file begins as JSON and is none.", cause);
  }
}
