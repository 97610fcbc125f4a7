import { createS3Signer, toObjectUrl } from "@swath/s3";
import { XmlError, type XmlObject, type XmlValue, parseNamed } from "@swath/xml";

import { RasterError } from "../errors.ts";
import { openHttpSource } from "./http-source.ts";
import type { S3Location, Source } from "./source.ts";

/** Of 1,000 entries with long names. */
const MAX_LISTING_BYTES = 2 * 1024 * 1024;

export interface FolderContent {
  readonly files: ReadonlySet<string>;
  readonly folders: readonly string[];
}

/** An object of S3 storage, with path-style addresses and, where there are credentials, signed requests (Signature V4). */
export const openS3Source = (location: S3Location): Source => openSigned(location, toObjectUrl(location));

/**
 * What is directly in a folder of a bucket, by one request: the first 1,000 names (ListObjectsV2).
 * @param location of the folder; the root of the bucket with an empty key
 * @throws {RasterError} `forbidden` where the bucket may not be listed
 */
export async function listS3Folder(location: S3Location, signal?: AbortSignal): Promise<FolderContent> {
  const prefix = location.key === "" ? "" : `${location.key.replace(/\/+$/, "")}/`;
  const query = { "list-type": "2", delimiter: "/", prefix };
  const source = openSigned(location, toObjectUrl({ ...location, key: undefined, query }), MAX_LISTING_BYTES);
  let document: XmlValue;
  try {
    document = parseNamed(Buffer.from(await source.read(0, MAX_LISTING_BYTES, signal)).toString("utf8")).value;
  } catch (error) {
    throw error instanceof XmlError
      ? new RasterError("unavailable", "The storage's listing cannot be read.", error)
      : error;
  } finally {
    await source.close();
  }
  const { Contents: objects, CommonPrefixes: prefixes } = document as XmlObject;
  const namesOf = (list: XmlObject[string], member: string) =>
    (Array.isArray(list) ? list : [list]).flatMap((entry) => {
      const text = typeof entry === "object" ? (entry as XmlObject)[member] : undefined;
      return typeof text === "string" && text.startsWith(prefix) ? [text.slice(prefix.length).replace(/\/$/, "")] : [];
    });
  return { files: new Set(namesOf(objects, "Key")), folders: namesOf(prefixes, "Prefix") };
}

function openSigned(location: S3Location, url: string, maxBytes?: number): Source {
  const { region, credentials, socketPath } = location;
  const signer = credentials && createS3Signer({ ...credentials, region });
  return openHttpSource(
    // The endpoint is the operator's own choice, and may well be in a private network.
    { kind: "http", url, allowPrivate: true, ...(socketPath !== undefined && { socketPath }) },
    async (address, headers) => (signer === undefined ? headers : signer.sign({ url: address, headers })),
    maxBytes,
  );
}
