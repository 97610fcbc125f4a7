import { posix } from "node:path";

import type { JobResult } from "../store/tables.ts";

/** `s3://bucket/processing-results/<job>/`, with a slash at its end: where the files of a result are. */
export const folderOf = ({ catalogUri }: JobResult): string | undefined =>
  catalogUri?.slice(0, catalogUri.lastIndexOf("/") + 1);

const encodePath = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

/** `s3://bucket/processing-results/<job>/x` is `…/jobs/<job>/files/x`; what lies elsewhere stays as it is. */
export function fileAddress(href: string, result: JobResult, jobUrl: string): string {
  const folder = folderOf(result);
  return folder !== undefined && href.startsWith(folder)
    ? `${jobUrl}/files/${encodePath(href.slice(folder.length))}`
    : href;
}

/**
 * The collection of a result for who has it by HTTP and no key of the object storage: its items and files are at this service. The
 * link `root` says where the catalogue is in the object storage, for those who work there.
 */
export function rewriteCollectionLinks(collection: object, result: JobResult, jobUrl: string): object {
  const { links = [], ...rest } = collection as { readonly links?: readonly { readonly rel: string }[] };
  const follow = (value: unknown) => mapTexts(value, (text) => fileAddress(text, result, jobUrl));
  return { ...(follow(rest) as object), links: links.map((link) => (link.rel === "root" ? link : follow(link))) };
}

/**
 * A STAC document among the files of a result, with relative links to the others, so that a client comes from each to all by the
 * way it came; `undefined` for anything else.
 * @param folder as {@link folderOf} gives it
 * @param path of the document in it
 */
export function rewriteDocumentLinks(text: string, folder: string, path: string): string | undefined {
  if (!text.includes('"stac_version"') || !text.includes(folder)) {
    return undefined;
  }
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return undefined;
  }
  const relative = (href: string): string => {
    if (!href.startsWith(folder)) {
      return href;
    }
    const way = posix.relative(posix.dirname(`/${path}`), `/${href.slice(folder.length)}`);
    return encodePath(way).replace(/^(?!\.\.?(?:\/|$))/, "./");
  };
  return JSON.stringify(mapTexts(document, relative), null, 2);
}

export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") {
    return change(value);
  }
  if (Array.isArray(value)) {
    return value.map((item) => mapTexts(item, change));
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]))
    : value;
}
