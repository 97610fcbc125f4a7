import { type S3Request, header } from "../protocol/request.ts";
import type { Bucket, Version } from "../store/rows.ts";
import type { Context } from "./conditions.ts";
import type { Principal } from "./principal.ts";

interface Subject {
  readonly principal: Principal;
  readonly bucket: Bucket | undefined;
  /** The object that is asked for, when it is there. */
  readonly findObject: () => Version | undefined;
  readonly authType: string | undefined;
  /** Seconds since 1970 at which temporary credentials were given. */
  readonly region: string;
  readonly now: number;
}

/** The values of condition keys for a request: each is looked up when a policy names it. */
export function toContext(request: S3Request, subject: Subject): Context {
  return (key) => {
    const slash = key.indexOf("/");
    const value = slash < 0 ? toValue(key, request, subject) : toTag(key, slash, request, subject);
    return value === undefined ? undefined : typeof value === "string" ? [value] : value;
  };
}

/** For questions that come with no request: nothing is known of how it is asked. */
export const noContext: Context = () => undefined;

function toTag(key: string, slash: number, request: S3Request, { bucket, findObject }: Subject): string | undefined {
  const name = key.slice(slash + 1);
  switch (key.slice(0, slash)) {
    case "s3:existingobjecttag":
      return toTags(findObject()?.tags)[name];
    case "s3:requestobjecttag":
      return toRequestTags(request)?.get(name) ?? undefined;
    case "s3:buckettag":
    case "aws:resourcetag":
      return toTags(bucket?.tags)[name];
    default:
      return undefined;
  }
}

function toTags(json: string | null | undefined): Readonly<Record<string, string>> {
  return json === null || json === undefined ? {} : (JSON.parse(json) as Record<string, string>);
}

/** Tags that a request would set: of a header, or of the document that an operation has read. */
function toRequestTags(request: S3Request): URLSearchParams | undefined {
  const text = header(request, "x-amz-tagging");
  return text === undefined ? undefined : new URLSearchParams(text);
}

const HEADERS = new Set([
  "if-match",
  "if-none-match",
  "x-amz-acl",
  "x-amz-content-sha256",
  "x-amz-grant-full-control",
  "x-amz-grant-read",
  "x-amz-grant-read-acp",
  "x-amz-grant-write",
  "x-amz-grant-write-acp",
  "x-amz-metadata-directive",
  "x-amz-object-ownership",
  "x-amz-server-side-encryption",
  "x-amz-server-side-encryption-aws-kms-key-id",
  "x-amz-server-side-encryption-customer-algorithm",
  "x-amz-storage-class",
  "x-amz-website-redirect-location",
]);

/** The address of who asks, past the ingress. */
export function addressOf({ message, headers }: Pick<S3Request, "message" | "headers">): string {
  const forwarded = headers["x-forwarded-for"];
  const first = (Array.isArray(forwarded) ? forwarded.join(",") : forwarded)?.split(",")[0]?.trim();
  return first ?? message.socket.remoteAddress?.replace(/^::ffff:/, "") ?? "";
}

function toValue(key: string, request: S3Request, subject: Subject): string | readonly string[] | undefined {
  const { principal, bucket, authType, now } = subject;
  const { query } = request;
  if (key.startsWith("s3:") && HEADERS.has(key.slice(3))) {
    return header(request, key.slice(3));
  }
  switch (key) {
    case "aws:sourceip":
      return addressOf(request);
    case "aws:securetransport":
      return String(header(request, "x-forwarded-proto") === "https");
    case "aws:referer":
      return header(request, "referer");
    case "aws:useragent":
      return header(request, "user-agent");
    case "aws:currenttime":
      return new Date(now).toISOString();
    case "aws:epochtime":
      return String(Math.floor(now / 1000));
    case "aws:requestedregion":
      return subject.region;
    case "aws:viaawsservice":
    case "aws:principalisawsservice":
      return "false";
    case "aws:username":
      return principal.kind === "anonymous" ? undefined : principal.name;
    case "aws:userid":
      return principal.kind === "anonymous" ? "anonymous" : principal.name;
    case "aws:principaltype":
      return principal.kind === "anonymous" ? "Anonymous" : principal.kind === "root" ? "Account" : "User";
    case "aws:principalarn":
      return principal.kind === "anonymous"
        ? undefined
        : principal.kind === "root"
          ? "arn:aws:iam:::root"
          : `arn:aws:iam::${principal.account}:user/${principal.name}`;
    case "aws:principalaccount":
      return principal.kind === "anonymous" ? undefined : principal.account;
    case "aws:resourceaccount":
    case "s3:resourceaccount":
      return bucket?.account;
    case "s3:prefix":
      // A listing without one is of everything.
      return query.get("prefix") ?? (request.address.key === undefined ? "" : undefined);
    case "s3:delimiter":
      return query.get("delimiter");
    case "s3:max-keys":
      return query.get("max-keys");
    case "s3:versionid":
      return query.get("versionId");
    case "s3:locationconstraint":
      return undefined;
    case "s3:authtype":
      return authType;
    case "s3:signatureversion":
      return authType === undefined ? undefined : "AWS4-HMAC-SHA256";
    case "s3:signatureage": {
      const at = query.get("X-Amz-Date") ?? header(request, "x-amz-date");
      const [, year, month, day, hour, minute, second] =
        /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(at ?? "") ?? [];
      return year === undefined
        ? undefined
        : String(now - Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`));
    }
    case "s3:x-amz-copy-source":
      return header(request, "x-amz-copy-source")?.replace(/^\//, "");
    case "s3:requestobjecttagkeys":
      return toRequestTags(request) === undefined ? undefined : [...(toRequestTags(request)?.keys() ?? [])];
    case "s3:objectcreationoperation":
      return String(["PUT", "POST"].includes(request.method) && !query.has("tagging") && !query.has("acl"));
    case "s3:object-lock-mode":
      return header(request, "x-amz-object-lock-mode");
    case "s3:object-lock-legal-hold":
      return header(request, "x-amz-object-lock-legal-hold");
    case "s3:object-lock-retain-until-date":
      return header(request, "x-amz-object-lock-retain-until-date");
    case "s3:object-lock-remaining-retention-days": {
      const until = Date.parse(header(request, "x-amz-object-lock-retain-until-date") ?? "");
      return Number.isNaN(until) ? undefined : String(Math.ceil((until - now) / (24 * 3600 * 1000)));
    }
    default:
      return undefined;
  }
}
