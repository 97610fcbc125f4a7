import { S3Error } from "../errors.ts";
import { toChecksumElements } from "../protocol/checksums.ts";
import { header, sendXml } from "../protocol/request.ts";
import { type Operation, bucketOf, findVersion, setVersionHeader } from "./operation.ts";

export const getObjectAttributes: Operation = {
  name: "GetObjectAttributes",
  action: "s3:GetObjectAttributes",
  versionAction: "s3:GetObjectVersionAttributes",
  handle: (context) => {
    const wanted = (header(context.request, "x-amz-object-attributes") ?? "").split(",").map((name) => name.trim());
    const known = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"];
    if (!wanted.every((name) => known.includes(name))) {
      throw new S3Error("InvalidArgument", `x-amz-object-attributes must name some of ${known.join(", ")}.`);
    }
    const version = findVersion(context);
    setVersionHeader(context, bucketOf(context), version.version);
    context.request.response.setHeader("last-modified", new Date(version.modified).toUTCString());
    const has = (name: string) => wanted.includes(name);
    sendXml(context.request, "GetObjectAttributesResponse", {
      ETag: has("ETag") ? version.etag : undefined,
      Checksum: has("Checksum") && version.checksum !== null ? toChecksumElements(version.checksum) : undefined,
      ObjectParts: has("ObjectParts") && version.parts !== null ? { TotalPartsCount: version.parts } : undefined,
      StorageClass: has("StorageClass") ? "STANDARD" : undefined,
      ObjectSize: has("ObjectSize") ? version.size : undefined,
    });
  },
};
