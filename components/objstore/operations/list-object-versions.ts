import { readInteger, sendXml } from "../protocol/request.ts";
import { escapeXml, renderAll } from "../protocol/xml.ts";
import { type ListedVersion, listVersions } from "../store/listing.ts";
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
    // Versions and delete markers in one order, as S3 lists them: the newest of each key first.
    const entries = await renderAll(
      page.entries,
      (entry) => toVersion(entry, encode),
      ({ marker }) => (marker === 1 ? "DeleteMarker" : "Version"),
    );
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
      Version: entries,
      CommonPrefixes: page.prefixes.map((each) => ({ Prefix: encode(each) })),
    });
  },
};

/** A version or a delete marker, written at once as in lists of objects. */
function toVersion(entry: ListedVersion & { readonly isLatest: boolean }, encode: (key: string) => string): string {
  const content =
    entry.marker === 1
      ? ""
      : `<ETag>&quot;${entry.etag}&quot;</ETag><Size>${entry.size}</Size><StorageClass>${entry.storage_class}</StorageClass>`;
  const owner = escapeXml(entry.owner);
  return `<Key>${escapeXml(encode(entry.key))}</Key><VersionId>${escapeXml(entry.version)}</VersionId><IsLatest>${entry.isLatest}</IsLatest><LastModified>${new Date(entry.modified).toISOString()}</LastModified>${content}<Owner><ID>${owner}</ID><DisplayName>${owner}</DisplayName></Owner>`;
}
