import { readInteger, sendXml } from "../protocol/request.ts";
import { storageClassOf } from "../protocol/storage-class.ts";
import { toKeyEncoder } from "./list-objects.ts";
import { type Operation, bucketOf } from "./operation.ts";

export const listMultipartUploads: Operation = {
  name: "ListMultipartUploads",
  action: "s3:ListBucketMultipartUploads",
  handle: (context) => {
    const { store, request } = context;
    const { query } = request;
    const bucket = bucketOf(context);
    const [prefix, delimiter, after] = ["prefix", "delimiter", "key-marker"].map((name) => query.get(name) ?? "") as [
      string,
      string,
      string,
    ];
    const afterId = query.get("upload-id-marker");
    const limit = readInteger(request, "max-uploads", 1000, 1000);
    const encode = toKeyEncoder(request);
    const page = store.uploads.list({ bucket: bucket.id, prefix, delimiter, after, afterId, limit });
    const last = page.entries.at(-1);
    sendXml(request, "ListMultipartUploadsResult", {
      Bucket: bucket.name,
      KeyMarker: encode(after),
      UploadIdMarker: afterId ?? "",
      NextKeyMarker: page.truncated ? encode(page.last) : undefined,
      NextUploadIdMarker: page.truncated && last?.key === page.last ? last.id : undefined,
      Prefix: encode(prefix),
      ...(delimiter !== "" && { Delimiter: encode(delimiter) }),
      EncodingType: query.get("encoding-type"),
      MaxUploads: limit,
      IsTruncated: page.truncated,
      Upload: page.entries.map((upload) => ({
        Key: encode(upload.key),
        UploadId: upload.id,
        Initiator: { ID: upload.owner, DisplayName: upload.owner },
        Owner: { ID: upload.owner, DisplayName: upload.owner },
        StorageClass: storageClassOf(upload),
        Initiated: new Date(upload.initiated).toISOString(),
      })),
      CommonPrefixes: page.prefixes.map((each) => ({ Prefix: encode(each) })),
    });
  },
};
