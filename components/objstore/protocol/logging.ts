import { S3Error } from "../errors.ts";
import { childOf, childrenOf, parseXml, textOf } from "./xml.ts";

/** Where the access log of a bucket goes. */
export interface LoggingRule {
  readonly bucket: string;
  readonly prefix: string;
  /** Keys with account, region, bucket and day in front of the time. */
  readonly isPartitioned: boolean;
}

/** Reads a BucketLoggingStatus; undefined when logging is off. @throws {S3Error} MalformedXML, NotImplemented */
export function parseLogging(text: string): LoggingRule | undefined {
  const enabled = childOf(parseXml(text, "BucketLoggingStatus"), "LoggingEnabled");
  if (enabled === undefined) {
    return undefined;
  }
  const bucket = textOf(enabled, "TargetBucket");
  const prefix = textOf(enabled, "TargetPrefix") ?? "";
  if (bucket === undefined || bucket === "" || prefix.length > 800) {
    throw new S3Error("MalformedXML");
  }
  if (childrenOf(childOf(enabled, "TargetGrants"), "Grant").length > 0) {
    throw new S3Error("NotImplemented", "TargetGrants are not supported; use a policy of the target bucket.");
  }
  const format = childOf(enabled, "TargetObjectKeyFormat");
  const partitioned = childOf(format, "PartitionedPrefix");
  const source = textOf(partitioned, "PartitionDateSource");
  if (source !== undefined && source !== "DeliveryTime" && source !== "EventTime") {
    throw new S3Error("MalformedXML");
  }
  return { bucket, prefix, isPartitioned: partitioned !== undefined };
}

/** One request as the log tells of it. */
export interface LoggedRequest {
  readonly time: number;
  readonly address: string;
  /** Undefined: anonymous. */
  readonly requester: string | undefined;
  readonly requestId: string;
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  readonly key: string | undefined;
  readonly subresources: readonly string[];
  readonly status: number;
  readonly errorCode: string | undefined;
  readonly sentBytes: number | undefined;
  readonly ms: number;
  readonly referer: string | undefined;
  readonly userAgent: string | undefined;
  readonly host: string | undefined;
  readonly authType: string | undefined;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A line of an Amazon S3 server access log. What is not known here is a dash. */
export function toLogLine(bucket: { readonly name: string; readonly owner: string }, entry: LoggedRequest): string {
  const quote = (text: string | undefined) =>
    text === undefined ? "-" : `"${text.replace(/["\r\n]/g, encodeURIComponent)}"`;
  const plain = (text: string | number | undefined) => (text === undefined || text === "" ? "-" : String(text));
  const at = new Date(entry.time);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${two(at.getUTCDate())}/${MONTHS[at.getUTCMonth()]}/${at.getUTCFullYear()}`;
  const time = `[${day}:${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())} +0000]`;
  const fields = [
    bucket.owner,
    bucket.name,
    time,
    plain(entry.address),
    plain(entry.requester),
    entry.requestId,
    toOperation(entry),
    entry.key === undefined ? "-" : encodeURI(entry.key).replaceAll("%25", "%"),
    quote(`${entry.method} ${hideSecrets(entry.target)} HTTP/1.1`),
    entry.status,
    plain(entry.errorCode),
    plain(entry.sentBytes),
    "-",
    entry.ms,
    "-",
    quote(entry.referer),
    quote(entry.userAgent),
    "-",
    entry.requestId,
    entry.authType === undefined ? "-" : "SigV4",
    "-",
    entry.authType === undefined ? "-" : entry.authType === "REST-HEADER" ? "AuthHeader" : "QueryString",
    plain(entry.host),
    "-",
    "-",
    "-",
  ];
  return `${fields.join(" ")}\n`;
}

/** Who reads the log must not be able to use a presigned address. */
function hideSecrets(target: string): string {
  return target.replace(/([?&](?:X-Amz-Signature|X-Amz-Security-Token|Signature)=)[^&]*/gi, "$1-");
}

/** `REST.GET.OBJECT`, `REST.PUT.PART`, `REST.GET.VERSIONING`. */
function toOperation({ method, key, subresources }: LoggedRequest): string {
  const [name] = subresources;
  const resource =
    name === undefined
      ? key === undefined
        ? "BUCKET"
        : "OBJECT"
      : name === "delete"
        ? "MULTI_OBJECT_DELETE"
        : name === "uploadId"
          ? method === "PUT"
            ? "PART"
            : "UPLOAD"
          : name.toUpperCase().replaceAll("-", "_");
  return `REST.${method}.${resource}`;
}
