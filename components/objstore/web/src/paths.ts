/** Addresses of this console's pages. Names of buckets and objects may hold any character. */
export function toBucket(bucket: string, below = ""): string {
  return `/buckets/${encodeURIComponent(bucket)}${below}`;
}

export function toFolder(bucket: string, prefix: string): string {
  return prefix === "" ? toBucket(bucket) : `${toBucket(bucket)}?prefix=${encodeURIComponent(prefix)}`;
}

export function toObject(bucket: string, key: string, version?: string): string {
  const query = `?key=${encodeURIComponent(key)}`;
  return toBucket(bucket, `/object${query}${version === undefined ? "" : `&version=${encodeURIComponent(version)}`}`);
}

/** The folder that an object or folder is in: `a/b/` for `a/b/c` and `a/b/c/`. */
export function folderOf(key: string): string {
  return key.slice(0, key.replace(/\/$/, "").lastIndexOf("/") + 1);
}
