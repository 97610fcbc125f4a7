import { send } from "./send.ts";
import { childrenOf, parseXml, textOf } from "./xml.ts";

/** A thing in a folder: an object, or a folder below it. */
export interface Entry {
  /** Whole key; a folder's ends with a slash. */
  readonly key: string;
  /** What follows the folder it is in. */
  readonly name: string;
  readonly isFolder: boolean;
  readonly size: number;
  /** Milliseconds since 1970; 0 for folders. */
  readonly modified: number;
}

export interface ListPage {
  readonly entries: readonly Entry[];
  readonly next: string | undefined;
}

interface ListOptions {
  readonly bucket: string;
  readonly prefix: string;
  /** Everything below the prefix instead of what is directly in it. */
  readonly deep?: boolean;
  readonly token?: string | undefined;
  readonly signal?: AbortSignal;
}

/** A page of up to 1,000 entries of a folder. @throws {RequestError} */
export async function listPage({ bucket, prefix, deep = false, token, signal }: ListOptions): Promise<ListPage> {
  const query = {
    "list-type": "2",
    "encoding-type": "url",
    "max-keys": "1000",
    ...(prefix !== "" && { prefix }),
    ...(!deep && { delimiter: "/" }),
    ...(token !== undefined && { "continuation-token": token }),
  };
  const response = await send({ method: "GET", bucket, query }, signal ? { signal } : {});
  const document = parseXml(await response.text());
  const folders = childrenOf(document, "CommonPrefixes").map((element): Entry => {
    const key = decode(textOf(element, "Prefix"));
    return { key, name: key.slice(prefix.length), isFolder: true, size: 0, modified: 0 };
  });
  const objects = childrenOf(document, "Contents").map((element): Entry => {
    const key = decode(textOf(element, "Key"));
    return {
      key,
      name: key.slice(prefix.length),
      isFolder: false,
      size: Number(textOf(element, "Size")),
      modified: Date.parse(textOf(element, "LastModified") ?? ""),
    };
  });
  return {
    // The object that stands for the folder itself is not in it.
    entries: [...folders, ...objects.filter(({ name }) => deep || name !== "")],
    next: textOf(document, "NextContinuationToken"),
  };
}

/** Every object below a prefix, page by page. @throws {RequestError} */
export async function* listDeep(
  bucket: string,
  prefix: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly Entry[]> {
  let token: string | undefined;
  do {
    const page = await listPage({ bucket, prefix, deep: true, token, ...(signal && { signal }) });
    yield page.entries;
    token = page.next;
  } while (token !== undefined);
}

/** A version of an object, or the mark that it was deleted. */
export interface Version {
  readonly id: string;
  readonly isLatest: boolean;
  readonly isDeletion: boolean;
  readonly size: number;
  readonly modified: number;
}

/** The versions of one key, newest first; at most 1,000. @throws {RequestError} */
export async function listVersions(bucket: string, key: string): Promise<readonly Version[]> {
  const query = { versions: "", "encoding-type": "url", prefix: key };
  const document = parseXml(await (await send({ method: "GET", bucket, query })).text());
  return [...document.children]
    .filter(({ localName }) => localName === "Version" || localName === "DeleteMarker")
    .filter((element) => decode(textOf(element, "Key")) === key)
    .map((element) => ({
      id: textOf(element, "VersionId") ?? "null",
      isLatest: textOf(element, "IsLatest") === "true",
      isDeletion: element.localName === "DeleteMarker",
      size: Number(textOf(element, "Size") ?? 0),
      modified: Date.parse(textOf(element, "LastModified") ?? ""),
    }))
    .toSorted((a, b) => Number(b.isLatest) - Number(a.isLatest) || b.modified - a.modified);
}

/** A key of a version listing with everything that is kept of it. */
export interface KeptVersion {
  readonly key: string;
  readonly version: string;
}

/** Every version below a prefix, page by page. @throws {RequestError} */
export async function* listAllVersions(bucket: string, prefix: string): AsyncGenerator<readonly KeptVersion[]> {
  let markers: Record<string, string> = {};
  do {
    const query = { versions: "", "encoding-type": "url", ...(prefix !== "" && { prefix }), ...markers };
    const document = parseXml(await (await send({ method: "GET", bucket, query })).text());
    yield [...childrenOf(document, "Version"), ...childrenOf(document, "DeleteMarker")].map((element) => ({
      key: decode(textOf(element, "Key")),
      version: textOf(element, "VersionId") ?? "null",
    }));
    const nextKey = textOf(document, "NextKeyMarker");
    const nextVersion = textOf(document, "NextVersionIdMarker");
    markers =
      textOf(document, "IsTruncated") === "true" && nextKey !== undefined
        ? { "key-marker": decode(nextKey), ...(nextVersion !== undefined && { "version-id-marker": nextVersion }) }
        : {};
  } while ("key-marker" in markers);
}

function decode(text: string | undefined): string {
  return decodeURIComponent((text ?? "").replaceAll("+", "%20"));
}
