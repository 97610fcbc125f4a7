import { readInteger, sendXml } from "../protocol/request.ts";
import { storageClassOf } from "../protocol/storage-class.ts";
import { type Operation, bucketOf, keyOf } from "./operation.ts";

export const listParts: Operation = {
  name: "ListParts",
  action: "s3:ListMultipartUploadParts",
  handle: (context) => {
    const { store, request } = context;
    const bucket = bucketOf(context);
    const upload = store.uploads.get(bucket.id, keyOf(context), request.query.get("uploadId") ?? "");
    const after = readInteger(request, "part-number-marker", 0, 10_000);
    const limit = readInteger(request, "max-parts", 1000, 1000);
    const found = store.uploads.listParts(upload.id, after, limit + 1);
    const parts = found.slice(0, limit);
    const algorithm = upload.checksum_algorithm?.toUpperCase();
    sendXml(request, "ListPartsResult", {
      Bucket: bucket.name,
      Key: upload.key,
      UploadId: upload.id,
      Initiator: { ID: upload.owner, DisplayName: upload.owner },
      Owner: { ID: upload.owner, DisplayName: upload.owner },
      StorageClass: storageClassOf(upload),
      PartNumberMarker: after,
      NextPartNumberMarker: parts.at(-1)?.number ?? 0,
      MaxParts: limit,
      IsTruncated: found.length > limit,
      ChecksumAlgorithm: algorithm,
      ChecksumType: upload.checksum_type ?? undefined,
      Part: parts.map((part) => ({
        PartNumber: part.number,
        LastModified: new Date(part.modified).toISOString(),
        ETag: `"${part.etag}"`,
        Size: part.size,
        ...(algorithm !== undefined && part.checksum !== null && { [`Checksum${algorithm}`]: part.checksum }),
      })),
    });
  },
};
