import type { IncomingMessage } from "node:http";

import { Refusal } from "../errors.ts";
import { type CanonicalHost, canonicalizeHost } from "./canonical-host.ts";
import { type CanonicalPath, canonicalizePath } from "./canonical-path.ts";

/** The one reading of a request's head that is decided on and sent on. */
export interface CanonicalRequest {
  readonly method: string;
  readonly host: CanonicalHost;
  readonly path: CanonicalPath;
  /** With its question mark; empty without a query. */
  readonly query: string;
  /** How the body is delimited. */
  readonly body: "none" | "length" | "chunked";
}

/** Headers that mean something else, or something at all, only when they come once. */
const ONCE = new Set(["host", "content-length", "transfer-encoding", "authorization", "origin", "upgrade"]);

/**
 * Reads the head of a request in exactly one way, or refuses it (RFC 9112 §3.2, §6.3).
 * @throws {Refusal} AMBIGUOUS_REQUEST, METHOD
 */
export function canonicalizeRequest(request: IncomingMessage): CanonicalRequest {
  refuseRepeatedHeaders(request.rawHeaders);
  const { method = "", headers, httpVersionMinor } = request;
  if (method === "TRACE" || method === "CONNECT") {
    throw new Refusal("METHOD", { because: method });
  }
  const host = canonicalizeHost(headers.host ?? "");
  const { path, query } = splitTarget(request.url ?? "", host);
  const coding = headers["transfer-encoding"];
  const length = headers["content-length"];
  if (coding !== undefined && (coding.toLowerCase() !== "chunked" || length !== undefined || httpVersionMinor === 0)) {
    throw refuse("the end of its body is not clear");
  }
  if (length !== undefined && !/^\d{1,16}$/.test(length)) {
    throw refuse("its Content-Length is not a length");
  }
  return {
    method,
    host,
    path: canonicalizePath(path),
    query,
    body: coding !== undefined ? "chunked" : length !== undefined ? "length" : "none",
  };
}

function refuseRepeatedHeaders(rawHeaders: readonly string[]): void {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase();
    if (ONCE.has(name)) {
      if (seen.has(name)) {
        throw refuse(`it has several ${name} headers`);
      }
      seen.add(name);
    }
  }
}

/** Origin form, or absolute form of the same host (RFC 9112 §3.2.2 obliges servers to understand it). */
function splitTarget(target: string, host: CanonicalHost): { path: string; query: string } {
  let rest = target;
  if (!target.startsWith("/")) {
    const match = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target);
    if (match?.[1] === undefined || canonicalizeHost(match[1]).name !== host.name) {
      throw refuse("its target is neither a path nor an address of its host");
    }
    rest = match[2] === "" || match[2]?.startsWith("?") ? `/${match[2]}` : (match[2] ?? "/");
  }
  const at = rest.indexOf("?");
  const query = at < 0 ? "" : rest.slice(at);
  if (rest.includes("#") || !/^[\x21-\x7e]*$/.test(query)) {
    throw refuse("its target holds a character that must be percent-encoded");
  }
  return { path: at < 0 ? rest : rest.slice(0, at), query };
}

function refuse(because: string): Refusal {
  return new Refusal("AMBIGUOUS_REQUEST", { because });
}
