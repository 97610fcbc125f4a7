import { displayUrl } from "../display-url.ts";
import { StagingError } from "../errors.ts";
import type { DownloadContext } from "./download.ts";
import { nameInUrl } from "./file-names.ts";
import { type OpenedSource, discard } from "./opened-source.ts";
import { readBody } from "./read-body.ts";
import { retry } from "./retry.ts";

/** A JSON document with its address after redirects. */
export interface JsonDocument {
  readonly href: string;
  readonly value: unknown;
}

const ACCEPT = "application/geo+json, application/json;q=0.9, */*;q=0.5";
const JSON_NAME = /\.(?:json|geojson)$/i;

type Context = Omit<DownloadContext, "record">;

/** Fetches a document that must be JSON. @param from the document that names it */
export async function readDocument(href: string, context: Context, from?: string): Promise<JsonDocument> {
  const document = await tryReadDocument(href, { from }, context, () => true);
  if (document === undefined) {
    throw new StagingError("source", displayUrl(href), "is not JSON");
  }
  return document;
}

/** Fetches a document when its source or its name says that it is JSON; undefined for any other file, which is left unread. */
export function tryReadDocument(
  href: string,
  { mediaType, from }: { readonly mediaType?: string | undefined; readonly from?: string | undefined },
  context: Context,
  isWanted: (opened: OpenedSource) => boolean = (opened) =>
    /\bjson\b/i.test(opened.mediaType ?? "") ||
    JSON_NAME.test(nameInUrl(opened.href)) ||
    JSON_NAME.test(nameInUrl(href)),
): Promise<JsonDocument | undefined> {
  const { sources, limits, budget, signal } = context;
  return retry(
    async () => {
      const opened = await sources.open({
        href,
        signal,
        accept: mediaType ?? ACCEPT,
        ...(from !== undefined && { from }),
      });
      if (!isWanted(opened)) {
        discard(opened.body);
        return undefined;
      }
      const chunks: Buffer[] = [];
      let bytes = 0;
      await readBody(opened, { stallSeconds: limits.stallSeconds, signal }, (chunk) => {
        bytes += chunk.length;
        if (bytes > limits.maxDocumentBytes) {
          throw new StagingError(
            "limit",
            displayUrl(href),
            `is longer than the ${limits.maxDocumentBytes} bytes allowed for a document`,
          );
        }
        chunks.push(chunk);
        return undefined;
      });
      budget.file(href, displayUrl(href)).set(bytes);
      return { href: opened.href, value: parse(Buffer.concat(chunks).toString(), opened.href) };
    },
    { retries: limits.retries, signal },
  );
}

function parse(text: string, href: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StagingError("source", displayUrl(href), `is not JSON: ${(error as Error).message}`, { cause: error });
  }
}
