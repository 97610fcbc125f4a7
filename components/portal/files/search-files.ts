import type { FolderPage } from "./folder-page.ts";
import type { Bucket } from "./workspace-storage.ts";

/** Keys that one request looks at, a thousand a page, and files that it gives. */
const MAX_PAGES = 20;
const MAX_FOUND = 200;

/** Files below a prefix whose names contain a text, whatever their case. `next` is where another request goes on. */
export async function searchFiles(
  { client, name }: Bucket,
  { prefix, text, after }: { readonly prefix: string; readonly text: string; readonly after?: string | undefined },
  abortSignal: AbortSignal,
): Promise<FolderPage> {
  const { ListObjectsV2Command } = await import("@aws-sdk/client-s3");
  const requested = text.toLowerCase();
  const files: FolderPage["files"][number][] = [];
  let start = after;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page = await client.send(
      new ListObjectsV2Command({ Bucket: name, Prefix: prefix, ...(start !== undefined && { StartAfter: start }) }),
      { abortSignal },
    );
    for (const { Key: key, Size: size = 0, LastModified: modified } of page.Contents ?? []) {
      start = key;
      if (key === undefined || key.endsWith("/") || !key.slice(prefix.length).toLowerCase().includes(requested)) {
        continue;
      }
      files.push({ key, name: key.slice(prefix.length), size, modified: (modified ?? new Date(0)).toISOString() });
      if (files.length === MAX_FOUND) {
        return { prefix, folders: [], files, ...(start !== undefined && { next: start }) };
      }
    }
    if (page.IsTruncated !== true) {
      return { prefix, folders: [], files };
    }
  }
  return { prefix, folders: [], files, ...(start !== undefined && { next: start }) };
}
