import type { JobRequest, JobResult, RequestedOutput } from "../store/tables.ts";
import { fileAddress, rewriteCollectionLinks, mapTexts } from "./rewrite-links.ts";

/** One output of a job as it is sent: by value or by reference. */
export interface Output {
  readonly name: string;
  /** Where it can be fetched. */
  readonly href: string;
  readonly mediaType: string;
  /** Left out for a file, whose bytes are at `href`. */
  readonly value?: unknown;
  /** Bytes of a binary value are base64. */
  readonly encoding?: "base64";
  readonly byReference: boolean;
}

/** What a file output is in the stored result. */
interface StoredFile {
  readonly href: string;
  readonly type?: string;
}

interface Asked {
  readonly request: JobRequest;
  readonly result: JobResult;
  /** `https://…/jobs/<id>`: files and single outputs are below. */
  readonly jobUrl: string;
}

/**
 * The outputs that were asked for, each by value or by reference as was asked. A STAC catalogue by value is its collection; files
 * are references unless their value is asked for, and always lead to the service, which gives them to the job's owner.
 */
export function selectOutputs({ request, result, jobUrl }: Asked): readonly Output[] {
  const { outputs: requested } = request;
  const made = Object.keys(result.outputs);
  // Names were checked when the job was accepted; one that is not here was not made this time.
  return (requested === undefined ? made : Object.keys(requested).filter((name) => made.includes(name))).map((name) =>
    toOutput(name, requested?.[name] ?? {}, { request, result, jobUrl }),
  );
}

function toOutput(name: string, requested: RequestedOutput, { result, jobUrl }: Asked): Output {
  const value = onlyCatalogue(result.outputs[name], result);
  const byReference = requested.transmissionMode === "reference";
  const ownAddress = `${jobUrl}/results/${encodeURIComponent(name)}`;
  if (!isStoredFile(value)) {
    const { mediaType, encoding, inner } = describeValue(withFileAddresses(value, result, jobUrl));
    return { name, href: ownAddress, mediaType, value: inner, ...(encoding && { encoding }), byReference };
  }
  if (value.href === result.catalogUri && result.collection !== undefined) {
    const href = fileAddress(value.href, result, jobUrl);
    return {
      name,
      href,
      mediaType: "application/json",
      value: rewriteCollectionLinks(result.collection, result, jobUrl),
      byReference,
    };
  }
  const href = fileAddress(value.href, result, jobUrl);
  return { name, href, mediaType: value.type ?? "application/octet-stream", byReference };
}

/** Directories of a list are all in the one catalogue that was made of them, which stands for them once. */
function onlyCatalogue(value: unknown, { catalogUri }: JobResult): unknown {
  const all = Array.isArray(value) ? (value as unknown[]).flat(Number.POSITIVE_INFINITY) : [];
  const [first] = all;
  return isStoredFile(first) && all.every((item) => isStoredFile(item) && item.href === catalogUri) ? first : value;
}

/** The file that an output is. */
export function findStoredFile(name: string, result: JobResult): StoredFile | undefined {
  const value = onlyCatalogue(result.outputs[name], result);
  return isStoredFile(value) ? value : undefined;
}

export const isStoredFile = (value: unknown): value is StoredFile =>
  typeof value === "object" && value !== null && "href" in value && typeof value.href === "string";

/** Files inside lists and records. */
function withFileAddresses(value: unknown, result: JobResult, jobUrl: string): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => withFileAddresses(item, result, jobUrl));
  }
  if (isStoredFile(value)) {
    return { ...value, href: fileAddress(value.href, result, jobUrl) };
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withFileAddresses(item, result, jobUrl)]))
    : value;
}

/** A document of the results with addresses that a browser can follow instead of those of the object storage. */
export const withBrowserAddresses = (value: unknown, result: JobResult, jobUrl: string): unknown =>
  mapTexts(value, (text) => fileAddress(text, result, jobUrl));

interface Qualified {
  readonly value: unknown;
  readonly mediaType: string;
  readonly encoding?: unknown;
}

const isQualified = (value: unknown): value is Qualified =>
  typeof value === "object" && value !== null && "value" in value && "mediaType" in value;

function describeValue(value: unknown): { mediaType: string; encoding?: "base64"; inner: unknown } {
  if (isQualified(value)) {
    return {
      mediaType: value.mediaType,
      inner: value.value,
      ...(value.encoding === "base64" && { encoding: "base64" as const }),
    };
  }
  return { mediaType: typeof value === "string" ? "text/plain; charset=utf-8" : "application/json", inner: value };
}
