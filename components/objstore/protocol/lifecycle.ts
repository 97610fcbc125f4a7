import { S3Error } from "../errors.ts";
import { type XmlNode, childOf, childrenOf, parseXml, textOf } from "./xml.ts";

export interface LifecycleRule {
  readonly prefix: string;
  readonly expireDays: number | undefined;
  /** Milliseconds since 1970. */
  readonly expireAt: number | undefined;
  readonly noncurrentDays: number | undefined;
  readonly abortUploadDays: number | undefined;
}

/** Enabled rules of a LifecycleConfiguration. @throws {S3Error} MalformedXML; NotImplemented for transitions and filters by tag or size */
export function parseLifecycle(text: string): readonly LifecycleRule[] {
  const rules = childrenOf(parseXml(text, "LifecycleConfiguration"), "Rule");
  if (rules.length === 0 || rules.length > 1000) {
    throw new S3Error("MalformedXML");
  }
  return rules.flatMap((rule) => {
    const status = textOf(rule, "Status");
    if (status !== "Enabled" && status !== "Disabled") {
      throw new S3Error("MalformedXML");
    }
    const parsed = parseRule(rule);
    return status === "Enabled" ? [parsed] : [];
  });
}

function parseRule(rule: XmlNode): LifecycleRule {
  const filter = childOf(rule, "Filter");
  const unsupported = ["Transition", "NoncurrentVersionTransition"].find((name) => childrenOf(rule, name).length > 0);
  const strange = typeof filter === "object" ? Object.keys(filter).find((name) => name !== "Prefix") : undefined;
  if (unsupported !== undefined || strange !== undefined) {
    throw new S3Error(
      "NotImplemented",
      `Lifecycle rules with ${unsupported ?? `a filter by ${strange}`} are not supported.`,
    );
  }
  const expiration = childOf(rule, "Expiration");
  const date = textOf(expiration, "Date");
  if (date !== undefined && Number.isNaN(Date.parse(date))) {
    throw new S3Error("MalformedXML", "Expiration Date must be an ISO 8601 date.");
  }
  if (textOf(expiration, "ExpiredObjectDeleteMarker") !== undefined) {
    throw new S3Error("NotImplemented", "ExpiredObjectDeleteMarker is not supported.");
  }
  return {
    prefix: textOf(filter, "Prefix") ?? textOf(rule, "Prefix") ?? "",
    expireDays: readDays(expiration, "Days"),
    expireAt: date === undefined ? undefined : Date.parse(date),
    noncurrentDays: readDays(childOf(rule, "NoncurrentVersionExpiration"), "NoncurrentDays"),
    abortUploadDays: readDays(childOf(rule, "AbortIncompleteMultipartUpload"), "DaysAfterInitiation"),
  };
}

function readDays(node: XmlNode | undefined, name: string): number | undefined {
  const text = textOf(node, name);
  if (text !== undefined && !/^[1-9]\d{0,5}$/.test(text)) {
    throw new S3Error("InvalidArgument", `'${name}' must be a positive integer.`);
  }
  return text === undefined ? undefined : Number(text);
}
