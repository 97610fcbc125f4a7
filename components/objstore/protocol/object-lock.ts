import { S3Error } from "../errors.ts";
import type { Lock, LockMode, Retention } from "../store/lock.ts";
import { type S3Request, header } from "./request.ts";
import { type XmlNode, childOf, parseXml, textOf } from "./xml.ts";

/** What new versions of a bucket get. */
export interface DefaultRetention {
  readonly mode: LockMode;
  readonly days?: number | undefined;
  readonly years?: number | undefined;
}

const DAY = 24 * 3600 * 1000;

/** Reads an ObjectLockConfiguration; undefined: enabled without a default. @throws {S3Error} MalformedXML, InvalidRetentionPeriod */
export function parseLockConfiguration(text: string): DefaultRetention | undefined {
  const document = parseXml(text, "ObjectLockConfiguration");
  if (textOf(document, "ObjectLockEnabled") !== "Enabled") {
    throw new S3Error("MalformedXML");
  }
  const rule = childOf(document, "Rule");
  if (rule === undefined) {
    return undefined;
  }
  const retention = childOf(rule, "DefaultRetention");
  const mode = toMode(textOf(retention, "Mode"));
  const [days, years] = [readPeriod(retention, "Days"), readPeriod(retention, "Years")];
  if ((days === undefined) === (years === undefined)) {
    throw new S3Error("MalformedXML");
  }
  return { mode, days, years };
}

function readPeriod(node: XmlNode | undefined, name: string): number | undefined {
  const text = textOf(node, name);
  if (text === undefined) {
    return undefined;
  }
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 36_500) {
    throw new S3Error("InvalidRetentionPeriod");
  }
  return value;
}

export function toMode(text: string | undefined): LockMode {
  if (text !== "GOVERNANCE" && text !== "COMPLIANCE") {
    throw new S3Error("MalformedXML");
  }
  return text;
}

/** Reads a Retention document. @throws {S3Error} MalformedXML, InvalidArgument for a time that has passed */
export function parseRetention(text: string, now: number): Retention | undefined {
  const document = parseXml(text, "Retention");
  if (document === "") {
    return undefined;
  }
  const mode = toMode(textOf(document, "Mode"));
  return { mode, until: toFuture(textOf(document, "RetainUntilDate"), now, "MalformedXML") };
}

export function parseHold(text: string): boolean {
  const status = textOf(parseXml(text, "LegalHold"), "Status");
  if (status !== "ON" && status !== "OFF") {
    throw new S3Error("MalformedXML");
  }
  return status === "ON";
}

function toFuture(text: string | undefined, now: number, malformed: "MalformedXML" | "InvalidArgument"): number {
  const time = Date.parse(text ?? "");
  if (Number.isNaN(time)) {
    throw new S3Error(malformed);
  }
  if (time <= now) {
    throw new S3Error("InvalidArgument", "The retain until date must be in the future!");
  }
  return time;
}

/** The lock that headers of an upload ask for. @throws {S3Error} InvalidArgument */
export function readLockHeaders(request: S3Request, now: number): Lock | undefined {
  const mode = header(request, "x-amz-object-lock-mode");
  const until = header(request, "x-amz-object-lock-retain-until-date");
  const hold = header(request, "x-amz-object-lock-legal-hold");
  if (mode === undefined && until === undefined && hold === undefined) {
    return undefined;
  }
  if ((mode === undefined) !== (until === undefined)) {
    throw new S3Error(
      "InvalidArgument",
      "x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied",
    );
  }
  if (mode !== undefined && mode !== "GOVERNANCE" && mode !== "COMPLIANCE") {
    throw new S3Error("InvalidArgument", "Unknown wormMode directive");
  }
  if (hold !== undefined && hold !== "ON" && hold !== "OFF") {
    throw new S3Error("InvalidArgument", "Legal Hold must be either of 'ON' or 'OFF'");
  }
  return {
    ...(mode !== undefined && {
      retention: { mode: mode as LockMode, until: toFuture(until, now, "InvalidArgument") },
    }),
    ...(hold !== undefined && { hold: hold === "ON" }),
  };
}

/** When a default ends for a version that comes now. */
export function toRetention({ mode, days, years }: DefaultRetention, now: number): Retention {
  if (days !== undefined) {
    return { mode, until: now + days * DAY };
  }
  const end = new Date(now);
  end.setUTCFullYear(end.getUTCFullYear() + (years ?? 0));
  return { mode, until: end.getTime() };
}

/** Headers that tell of a lock. */
export function toLockHeaders(json: string | null): readonly string[] {
  if (json === null) {
    return [];
  }
  const { retention, hold } = JSON.parse(json) as Lock;
  return [
    ...(retention === undefined
      ? []
      : [
          "x-amz-object-lock-mode",
          retention.mode,
          "x-amz-object-lock-retain-until-date",
          new Date(retention.until).toISOString(),
        ]),
    ...(hold === undefined ? [] : ["x-amz-object-lock-legal-hold", hold ? "ON" : "OFF"]),
  ];
}
