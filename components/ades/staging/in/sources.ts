import { Readable } from "node:stream";

import type { FoundItem } from "@swath/stac";

import { displayUrl } from "../display-url.ts";
import { StagingError } from "../errors.ts";
import type { SourceAccess, StageInLimits } from "../types.ts";
import { createHttpSource } from "./http-source.ts";
import type { OpenRequest, OpenedSource } from "./opened-source.ts";
import { createS3Source } from "./s3-source.ts";

/** Every address that inputs may have. */
export interface Sources {
  /** @throws {StagingError} saying what the address answered or why it may not be used */
  readonly open: (request: OpenRequest) => Promise<OpenedSource>;
  /**
   * Whether the caller may read what is at an address, as far as the address says; nothing is opened.
   * @throws {StagingError} when not
   */
  readonly checkAccess: (href: string) => Promise<void>;
  /**
   * Where a file of an item is fetched: at its own address, or by the platform's catalogue where it lies in a bucket of the platform that is
   * not read here. The catalogue gives what everybody may see.
   */
  readonly toAssetAddress: (found: FoundItem, key: string, href: string) => string;
  readonly list: (href: string, signal: AbortSignal) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

const ITEM_PATH = /^(?:\/stac)?\/collections\/[^/]+\/items\/[^/]+$/;

export function openSources(access: SourceAccess, limits: StageInLimits): Sources {
  const http = createHttpSource(access, limits);
  const s3 = createS3Source(access, limits);
  /** Whether what names an address may use what is the caller's own. Inline documents are the caller's words. */
  const isOwn = (from: string | undefined): boolean =>
    from === undefined ||
    from.startsWith("data:") ||
    (from.startsWith("s3://") ? s3.isPrivate(from) : http.isInternal(from));
  return {
    checkAccess: async (href) => {
      const scheme = schemeOf(href);
      if (scheme === "s3") {
        await s3.checkAccess(href);
      } else if (scheme === "http" || scheme === "https") {
        checkComplete(href);
        http.checkAccess(href);
      }
    },
    open: async (request) => {
      const { href } = request;
      switch (schemeOf(href)) {
        case "http":
        case "https":
          checkComplete(href);
          return http.open(request, isOwn(request.from));
        case "s3":
          return s3.open(request, isOwn(request.from));
        case "data":
          return openData(href, limits);
        default:
          throw new StagingError(
            "access",
            displayUrl(href),
            "cannot be staged in; use an http, https, s3 or data address",
          );
      }
    },
    toAssetAddress: ({ href: item, document }, key, href) => {
      const isElsewhere = href.startsWith("s3://") && !s3.isKnown(href);
      if (!isElsewhere || !http.isCatalogue(document) || !http.isCatalogue(item)) {
        return href;
      }
      const { origin, pathname } = new URL(item);
      return ITEM_PATH.test(pathname) ? `${origin}${pathname}/assets/${encodeURIComponent(key)}` : href;
    },
    list: s3.list,
    close: async () => {
      await Promise.all([s3.close(), http.close()]);
    },
  };
}

const schemeOf = (href: string): string | undefined => /^([a-z][a-z0-9+.-]*):/i.exec(href)?.[1]?.toLowerCase();

function checkComplete(href: string): void {
  if (!URL.canParse(href)) {
    throw new StagingError("source", displayUrl(href), "is not a complete address");
  }
}

/** RFC 2397, read as browsers read it. */
async function openData(href: string, limits: StageInLimits): Promise<OpenedSource> {
  // Three characters of base64 or an escape make no more than they are long.
  if (href.length > limits.maxFileBytes * 3) {
    throw new StagingError(
      "limit",
      displayUrl(href),
      `is larger than the ${limits.maxFileBytes} bytes allowed for one file`,
    );
  }
  const response = await fetch(href).catch((error: unknown) => {
    throw new StagingError("source", displayUrl(href), "is not a data address; write data:<type>;base64,<bytes>", {
      cause: error,
    });
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const mediaType = response.headers.get("content-type");
  return {
    href,
    start: 0,
    total: bytes.length,
    body: Readable.from([bytes], { objectMode: false }),
    ...(mediaType !== null && { mediaType }),
  };
}
