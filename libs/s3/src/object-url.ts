interface ObjectAddress {
  /** Base URL of the storage; its path may end with a slash. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Left out: the bucket itself. */
  readonly key?: string | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
}

/** The path-style URL of a bucket or an object. Segments such as `..` stay, which a `URL` object would take out. */
export function toObjectUrl({ endpoint, bucket, key, query = {} }: ObjectAddress): string {
  const path =
    key === undefined ? encodeUri(bucket) : `${encodeUri(bucket)}/${key.split("/").map(encodeUri).join("/")}`;
  const search = Object.entries(query)
    .map(([name, value]) => `${encodeUri(name)}=${encodeUri(value)}`)
    .join("&");
  return `${endpoint.replace(/\/+$/, "")}/${path}${search === "" ? "" : `?${search}`}`;
}

/** RFC 3986 §2.3: every character but unreserved ones, as Signature Version 4 encodes. */
export function encodeUri(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
