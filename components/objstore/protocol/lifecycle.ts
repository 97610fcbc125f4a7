import { S3Error } from "../errors.ts";
import { type XmlNode, childOf, childrenOf, parseXml, textOf } from "./xml.ts";

export interface LifecycleRule {
  readonly id: string;
  readonly prefix: string;
  readonly expireDays: number | undefined;
  /** Milliseconds since 1970. */
  readonly expireAt: number | undefined;
  /** Delete markers go once they are the only version left. */
  readonly lonelyMarkers: boolean;
  readonly noncurrentDays: number | undefined;
  /** Noncurrent versions of a key that stay in any case, the newest ones. */
  readonly noncurrentKept: number;
  /** Tags that an object must have, all of them. */
  readonly tags: Readonly<Record<string, string>>;
  /** Bytes; both ends excluded. */
  readonly largerThan: number;
  readonly smallerThan: number;
  readonly abortUploadDays: number | undefined;
}

/** Enabled rules of a LifecycleConfiguration. @throws {S3Error} MalformedXML; NotImplemented for transitions */
export function parseLifecycle(text: string): readonly LifecycleRule[] {
  const rules = childrenOf(parseXml(text, "LifecycleConfiguration"), "Rule");
  if (rules.length === 0 || rules.length > 1000) {
    throw new S3Error("MalformedXML");
  }
  const ids = rules.flatMap((rule) => textOf(rule, "ID") ?? []);
  if (new Set(ids).size < ids.length || ids.some((id) => id.length > 255)) {
    throw new S3Error("InvalidArgument", "Rule ID must be unique and have at most 255 characters.");
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
  const actions = ["Expiration", "NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload"];
  const dates = childrenOf(rule, "Transition").flatMap((each) => textOf(each, "Date") ?? []);
  if (dates.some((date) => !isDate(date))) {
    throw new S3Error("InvalidArgument", "'Date' must be at midnight GMT");
  }
  const unsupported = ["Transition", "NoncurrentVersionTransition"].find((name) => childrenOf(rule, name).length > 0);
  if (unsupported !== undefined) {
    throw new S3Error("NotImplemented", `Lifecycle rules with ${unsupported} are not supported.`);
  }
  if (actions.every((name) => childrenOf(rule, name).length === 0)) {
    throw new S3Error("InvalidRequest", "At least one action needs to be specified in a rule.");
  }
  const expiration = childOf(rule, "Expiration");
  const date = textOf(expiration, "Date");
  if (date !== undefined && !isDate(date)) {
    throw new S3Error("InvalidArgument", "'Date' must be at midnight GMT");
  }
  const kinds = ["Date", "Days", "ExpiredObjectDeleteMarker"].filter((name) => childrenOf(expiration, name).length > 0);
  if (expiration !== undefined && kinds.length !== 1) {
    throw new S3Error("MalformedXML", "Expiration holds one of Date, Days and ExpiredObjectDeleteMarker.");
  }
  const chosen = readFilter(filter);
  const abort = childOf(rule, "AbortIncompleteMultipartUpload");
  const narrowed = Object.keys(chosen.tags).length > 0 || chosen.largerThan >= 0 || chosen.smallerThan < Infinity;
  if (abort !== undefined && narrowed) {
    throw new S3Error("InvalidRequest", "AbortIncompleteMultipartUpload cannot be specified with Tags or sizes.");
  }
  const noncurrent = childOf(rule, "NoncurrentVersionExpiration");
  return {
    ...chosen,
    id: textOf(rule, "ID") ?? "",
    lonelyMarkers: textOf(expiration, "ExpiredObjectDeleteMarker")?.toLowerCase() === "true",
    prefix: chosen.prefix ?? textOf(rule, "Prefix") ?? "",
    expireDays: readDays(expiration, "Days"),
    expireAt: date === undefined ? undefined : Date.parse(date),
    noncurrentDays: readDays(noncurrent, "NoncurrentDays"),
    noncurrentKept: readDays(noncurrent, "NewerNoncurrentVersions") ?? 0,
    abortUploadDays: readDays(abort, "DaysAfterInitiation"),
  };
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d/.test(text) && Date.parse(text) % (24 * 3600 * 1000) === 0;
}

const FILTERS = new Set(["Prefix", "Tag", "ObjectSizeGreaterThan", "ObjectSizeLessThan"]);

/** One condition, or several in `And`. @throws {S3Error} MalformedXML */
function readFilter(filter: XmlNode | undefined) {
  const conditions = childOf(filter, "And") ?? filter;
  const names = typeof conditions === "object" ? Object.keys(conditions) : [];
  const strange = names.find((name) => !FILTERS.has(name));
  const siblings = typeof filter === "object" ? Object.keys(filter).length : 0;
  if (strange !== undefined || siblings > 1) {
    throw new S3Error(
      "MalformedXML",
      "A Filter holds one of Prefix, Tag, ObjectSizeGreaterThan, ObjectSizeLessThan, or several of them in And.",
    );
  }
  const tags = childrenOf(conditions, "Tag").map((tag) => {
    const [key, value] = [textOf(tag, "Key"), textOf(tag, "Value")];
    if (key === undefined || key === "") {
      throw new S3Error("MalformedXML", "A Tag needs a Key.");
    }
    return [key, value ?? ""] as const;
  });
  return {
    prefix: textOf(conditions, "Prefix"),
    tags: Object.fromEntries(tags),
    largerThan: readBytes(conditions, "ObjectSizeGreaterThan") ?? -1,
    smallerThan: readBytes(conditions, "ObjectSizeLessThan") ?? Infinity,
  };
}

function readBytes(node: XmlNode | undefined, name: string): number | undefined {
  const text = textOf(node, name);
  if (text !== undefined && !/^\d{1,14}$/.test(text)) {
    throw new S3Error("InvalidArgument", `'${name}' must be a number of bytes.`);
  }
  return text === undefined ? undefined : Number(text);
}

function readDays(node: XmlNode | undefined, name: string): number | undefined {
  const text = textOf(node, name);
  if (text !== undefined && !/^[1-9]\d{0,5}$/.test(text)) {
    throw new S3Error("InvalidArgument", `'${name}' must be a positive integer.`);
  }
  return text === undefined ? undefined : Number(text);
}

/** The document with an id for every rule that came without one. */
export function nameRules(text: string, toId: () => string): string {
  const rules = childrenOf(parseXml(text, "LifecycleConfiguration"), "Rule");
  let at = -1;
  return text.replace(/<((?:\w+:)?)Rule\s*>/g, (tag, prefix: string) => {
    at += 1;
    const rule = rules[at];
    return rule === undefined || textOf(rule, "ID") !== undefined ? tag : `${tag}<${prefix}ID>${toId()}</${prefix}ID>`;
  });
}
