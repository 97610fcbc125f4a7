import { send } from "./send.ts";
import { childrenOf, parseXml, textOf } from "./xml.ts";

/** What the head of an object says. */
export interface ObjectInfo {
  readonly size: number;
  readonly type: string;
  readonly etag: string;
  /** Milliseconds since 1970. */
  readonly modified: number;
  readonly version: string | undefined;
  readonly tags: readonly (readonly [name: string, value: string])[];
}

/** @throws {RequestError} */
export async function readObjectInfo(bucket: string, key: string, version?: string): Promise<ObjectInfo> {
  const query: Readonly<Record<string, string>> = version === undefined ? {} : { versionId: version };
  const [{ headers }, tags] = await Promise.all([
    send({ method: "HEAD", bucket, key, query }),
    readTags(bucket, key, query),
  ]);
  return {
    size: Number(headers.get("content-length")),
    type: headers.get("content-type") ?? "application/octet-stream",
    etag: (headers.get("etag") ?? "").replaceAll('"', ""),
    modified: Date.parse(headers.get("last-modified") ?? ""),
    version: headers.get("x-amz-version-id") ?? undefined,
    tags,
  };
}

/** Who may read an object may not read its tags by that alone; then there are none to show. */
async function readTags(
  bucket: string,
  key: string,
  query: Readonly<Record<string, string>>,
): Promise<ObjectInfo["tags"]> {
  try {
    const response = await send({ method: "GET", bucket, key, query: { ...query, tagging: "" } });
    const set = childrenOf(parseXml(await response.text()), "TagSet")[0];
    return set === undefined
      ? []
      : childrenOf(set, "Tag").map((tag) => [textOf(tag, "Key") ?? "", textOf(tag, "Value") ?? ""] as const);
  } catch {
    return [];
  }
}
