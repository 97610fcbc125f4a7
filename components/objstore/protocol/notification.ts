import { S3Error } from "../errors.ts";
import { type XmlNode, childOf, childrenOf, parseXml, textOf } from "./xml.ts";

/** What a bucket tells of, and whom. */
export interface NotificationRule {
  readonly id: string;
  /** Name of a webhook of the deployment. */
  readonly target: string;
  /** `ObjectCreated:Put`, or with `*` at the end. */
  readonly events: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
}

/** Events that there are; a family is asked for as `s3:ObjectCreated:*`. */
const EVENTS = [
  "ObjectCreated:Put",
  "ObjectCreated:Post",
  "ObjectCreated:Copy",
  "ObjectCreated:CompleteMultipartUpload",
  "ObjectRemoved:Delete",
  "ObjectRemoved:DeleteMarkerCreated",
  "LifecycleExpiration:Delete",
  "LifecycleExpiration:DeleteMarkerCreated",
  "ObjectTagging:Put",
  "ObjectTagging:Delete",
  "ObjectAcl:Put",
] as const;
export type EventName = (typeof EVENTS)[number];

/** Elements of a NotificationConfiguration and where each says its destination. */
const DESTINATIONS = {
  TopicConfiguration: "Topic",
  QueueConfiguration: "Queue",
  CloudFunctionConfiguration: "CloudFunction",
};
const MAX_RULES = 100;

/**
 * Reads a NotificationConfiguration. The last part of a destination's ARN is the name of a webhook of the deployment.
 * @throws {S3Error} MalformedXML, InvalidArgument
 */
export function parseNotification(text: string): readonly NotificationRule[] {
  const document = parseXml(text, "NotificationConfiguration");
  const known = new Set(Object.keys(DESTINATIONS));
  const strange = typeof document === "object" ? Object.keys(document).find((name) => !known.has(name)) : undefined;
  if (strange !== undefined) {
    throw new S3Error("InvalidArgument", `${strange} is not offered here; use a TopicConfiguration.`);
  }
  const rules = Object.entries(DESTINATIONS).flatMap(([element, destination]) =>
    childrenOf(document, element).map((rule) => parseRule(rule, destination)),
  );
  if (rules.length > MAX_RULES) {
    throw new S3Error("InvalidArgument", `A bucket may have ${MAX_RULES} notification configurations.`);
  }
  return rules;
}

function parseRule(rule: XmlNode, destination: string): NotificationRule {
  const target = /^arn:[^:\s]*:[^:\s]*:[^:\s]*:[^:\s]*:([\w-]{1,64})$/.exec(textOf(rule, destination) ?? "")?.[1];
  if (target === undefined) {
    throw new S3Error("InvalidArgument", "The ARN is not well formed: arn:aws:sns:<region>::<name of a webhook>.");
  }
  const events = childrenOf(rule, "Event").map((event) => readEvent(event));
  if (events.length === 0) {
    throw new S3Error("MalformedXML");
  }
  const filters = childrenOf(childOf(childOf(rule, "Filter"), "S3Key"), "FilterRule").map(
    (filter) => [textOf(filter, "Name")?.toLowerCase() ?? "", textOf(filter, "Value") ?? ""] as const,
  );
  const named = new Map(filters);
  if (named.size < filters.length || filters.some(([name]) => name !== "prefix" && name !== "suffix")) {
    throw new S3Error("InvalidArgument", "filter rule name must be either prefix or suffix, each once");
  }
  return {
    id: textOf(rule, "Id") ?? "",
    target,
    events,
    prefix: named.get("prefix") ?? "",
    suffix: named.get("suffix") ?? "",
  };
}

function readEvent(node: XmlNode): string {
  const event = typeof node === "string" ? node.replace(/^s3:/, "") : "";
  const family = event.endsWith(":*") ? event.slice(0, -1) : undefined;
  if (!EVENTS.some((name) => name === event || (family !== undefined && name.startsWith(family)))) {
    throw new S3Error("InvalidArgument", `The event '${event.slice(0, 100)}' is not supported for notifications`);
  }
  return event;
}

/** Whether a rule is of an event. */
export function isOf({ events, prefix, suffix }: NotificationRule, name: EventName, key: string): boolean {
  return (
    key.startsWith(prefix) &&
    key.endsWith(suffix) &&
    events.some((event) => event === name || (event.endsWith("*") && name.startsWith(event.slice(0, -1))))
  );
}
