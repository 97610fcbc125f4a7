import { readInteger, sendXml } from "../protocol/request.ts";
import { listVersions } from "../store/listing.ts";
import { toKeyEncoder } from "./list-objects.ts";
import { type Operation, bucketOf } from "./operation.ts";

export const listObjectVersions: Operation = {
  name: "ListObjectVersions",
  action: "s3:ListBucketVersions",
  handle: async (context) => {
    const { request, store } = context;
    const { query } = request;
    const bucket = bucketOf(context);
    const [prefix, delimiter, after] = ["prefix", "delimiter", "key-marker"].map((name) => query.get(name) ?? "") as [
      string,
      string,
      string,
    ];
    const limit = readInteger(request, "max-keys", 1000, 1000);
    const encode = toKeyEncoder(request);
    const afterVersion = query.get("version-id-marker");
    const page = await listVersions(store.index, { bucket: bucket.id, prefix, delimiter, after, afterVersion, limit });
    const last = page.entries.at(-1);
    const entries = page.entries.map((entry) => ({
      marker: entry.marker === 1,
      element: {
        Key: encode(entry.key),
        VersionId: entry.version,
        IsLatest: entry.isLatest,
        LastModified: new Date(entry.modified).toISOString(),
        ...(entry.marker === 0 && { ETag: `"${entry.etag}"`, Size: entry.size, StorageClass: "STANDARD" }),
        Owner: { ID: entry.owner, DisplayName: entry.owner },
      },
    }));
    sendXml(request, "ListVersionsResult", {
      Name: bucket.name,
      Prefix: encode(prefix),
      KeyMarker: encode(after),
      VersionIdMarker: afterVersion,
      NextKeyMarker: page.truncated ? encode(page.last) : undefined,
      NextVersionIdMarker: page.truncated && last?.key === page.last ? last.version : undefined,
      MaxKeys: limit,
      ...(delimiter !== "" && { Delimiter: encode(delimiter) }),
      EncodingType: query.get("encoding-type"),
      IsTruncated: page.truncated,
      Version: entries.flatMap(({ marker, element }) => (marker ? [] : [element])),
      DeleteMarker: entries.flatMap(({ marker, element }) => (marker ? [element] : [])),
      CommonPrefixes: page.prefixes.map((each) => ({ Prefix: encode(each) })),
    });
  },
};
