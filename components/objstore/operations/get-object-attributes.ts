import { S3Error } from "../errors.ts";
import { toChecksumElements } from "../protocol/checksums.ts";
import { openEncryption } from "../protocol/encryption.ts";
import { type S3Request, header, sendXml } from "../protocol/request.ts";
import { storageClassOf } from "../protocol/storage-class.ts";
import type { XmlElement } from "../protocol/xml.ts";
import type { StoredChecksum, Version } from "../store/rows.ts";
import { type Operation, type OperationContext, bucketOf, findVersion, setVersionHeader } from "./operation.ts";

export const getObjectAttributes: Operation = {
  name: "GetObjectAttributes",
  action: "s3:GetObjectAttributes",
  versionAction: "s3:GetObjectVersionAttributes",
  handle: (context) => {
    const requested = (header(context.request, "x-amz-object-attributes") ?? "").split(",").map((name) => name.trim());
    const known = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"];
    if (!requested.every((name) => known.includes(name))) {
      throw new S3Error("InvalidArgument", `x-amz-object-attributes must name some of ${known.join(", ")}.`);
    }
    const version = findVersion(context);
    openEncryption(version.encryption, context.request, context.keyring);
    setVersionHeader(context, bucketOf(context), version.version);
    context.request.response.setHeader("last-modified", new Date(version.modified).toUTCString());
    const has = (name: string) => requested.includes(name);
    sendXml(context.request, "GetObjectAttributesResponse", {
      ETag: has("ETag") ? version.etag : undefined,
      Checksum: has("Checksum") && version.checksum !== null ? toChecksumElements(version.checksum) : undefined,
      ObjectParts: has("ObjectParts") && version.parts !== null ? toParts(context, version) : undefined,
      StorageClass: has("StorageClass") ? storageClassOf(version) : undefined,
      ObjectSize: has("ObjectSize") ? version.size : undefined,
    });
  },
};

/** A page of the parts that a multipart object came in. */
function toParts({ store, request }: OperationContext, version: Version): XmlElement {
  const limit = readNumber(request, "x-amz-max-parts", 1000);
  const marker = readNumber(request, "x-amz-part-number-marker", 0);
  const content = version.content === null ? undefined : store.contents.read(version.content);
  const { algorithm } = (version.checksum === null ? {} : JSON.parse(version.checksum)) as Partial<StoredChecksum>;
  const following = (content !== undefined && "parts" in content ? content.parts : []).filter(
    ({ number }) => (number ?? 0) > marker,
  );
  const page = following.slice(0, limit);
  return {
    PartsCount: version.parts ?? 0,
    PartNumberMarker: marker,
    NextPartNumberMarker: page.at(-1)?.number ?? marker,
    MaxParts: limit,
    IsTruncated: following.length > page.length,
    Part: page.map(({ number, size, checksum }) => ({
      PartNumber: number ?? 0,
      Size: size,
      ...(algorithm !== undefined && checksum !== undefined && { [`Checksum${algorithm.toUpperCase()}`]: checksum }),
    })),
  };
}

function readNumber(request: S3Request, name: string, absent: number): number {
  const text = header(request, name);
  if (text !== undefined && !/^\d{1,6}$/.test(text)) {
    throw new S3Error("InvalidArgument", `${name} must be a whole number.`);
  }
  return text === undefined ? absent : Math.min(Number(text), name === "x-amz-max-parts" ? 1000 : 10_000);
}
