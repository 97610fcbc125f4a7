import { S3Error } from "../errors.ts";
import { isLike } from "../access/like.ts";
import { type XmlNode, childrenOf, parseXml, textOf } from "./xml.ts";

interface CorsRule {
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly exposed: readonly string[];
  readonly maxAge: string | undefined;
}

/** Reads a CORSConfiguration. @throws {S3Error} MalformedXML, InvalidRequest */
export function parseCors(text: string): readonly CorsRule[] {
  const rules = childrenOf(parseXml(text, "CORSConfiguration"), "CORSRule").map(parseRule);
  if (rules.length === 0 || rules.length > 100) {
    throw new S3Error("MalformedXML");
  }
  return rules;
}

function parseRule(rule: XmlNode): CorsRule {
  const list = (name: string) => childrenOf(rule, name).filter((item) => typeof item === "string");
  const methods = list("AllowedMethod");
  const strange = methods.find((method) => !["GET", "PUT", "POST", "DELETE", "HEAD"].includes(method));
  if (strange !== undefined) {
    throw new S3Error(
      "InvalidRequest",
      `Found unsupported HTTP method in CORS config. Unsupported method is ${strange}`,
    );
  }
  if (methods.length === 0 || list("AllowedOrigin").length === 0) {
    throw new S3Error("MalformedXML", "A CORSRule needs AllowedOrigin and AllowedMethod.");
  }
  return {
    origins: list("AllowedOrigin"),
    methods,
    headers: list("AllowedHeader").map((name) => name.toLowerCase()),
    exposed: list("ExposeHeader"),
    maxAge: textOf(rule, "MaxAgeSeconds"),
  };
}

/** Answer headers for a cross-origin request; undefined when no rule allows it. */
export function toCorsHeaders(
  rules: readonly CorsRule[],
  request: { readonly origin: string; readonly method: string; readonly headers: readonly string[] },
): Readonly<Record<string, string>> | undefined {
  const rule = rules.find(
    ({ origins, methods, headers }) =>
      origins.some((pattern) => isLike(request.origin, pattern)) &&
      methods.includes(request.method) &&
      request.headers.every((name) => headers.some((pattern) => isLike(name.toLowerCase(), pattern))),
  );
  if (rule === undefined) {
    return undefined;
  }
  const all = rule.origins.includes("*");
  return {
    "access-control-allow-origin": all ? "*" : request.origin,
    ...(!all && { "access-control-allow-credentials": "true" }),
    "access-control-allow-methods": rule.methods.join(", "),
    ...(request.headers.length > 0 && { "access-control-allow-headers": request.headers.join(", ") }),
    ...(rule.exposed.length > 0 && { "access-control-expose-headers": rule.exposed.join(", ") }),
    ...(rule.maxAge !== undefined && /^\d+$/.test(rule.maxAge) && { "access-control-max-age": rule.maxAge }),
    vary: "Origin, Access-Control-Request-Headers, Access-Control-Request-Method",
  };
}

/** What the console's own pages may do, whatever the bucket says. */
export function toConsoleRules(origin: string | undefined): readonly CorsRule[] {
  const exposed = [
    "ETag",
    "x-amz-version-id",
    "x-amz-delete-marker",
    "x-amz-request-id",
    "Content-Range",
    "Accept-Ranges",
    "Content-Length",
  ];
  return origin === undefined
    ? []
    : [
        {
          origins: [origin],
          methods: ["GET", "PUT", "POST", "DELETE", "HEAD"],
          headers: ["*"],
          exposed,
          maxAge: "3600",
        },
      ];
}
