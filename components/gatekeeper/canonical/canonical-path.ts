import { Refusal } from "../errors.ts";

/** One reading of a request's path. */
export interface CanonicalPath {
  /** What is sent on: unreserved characters plain, everything else percent-encoded once, upper-case hex. */
  readonly encoded: string;
  /** What patterns are compared with. */
  readonly decoded: string;
}

/** Characters that RFC 3986 §3.3 lets stand in a path segment, without the semicolon (see below), and four that browsers send plain. */
const PLAIN = /^[A-Za-z0-9\-._~!$&'()*+,=:@/%[\]|^]*$/;

/**
 * Reads a path in exactly one way, or refuses it. Services behind differ in what they make of `;`, `\`, encoded slashes,
 * dot segments and double encoding, so none of these may pass: a path decided on as one thing would be served as another.
 * Repeated slashes become one; `%65ric` becomes `eric`.
 * @throws {Refusal} AMBIGUOUS_REQUEST
 */
export function canonicalizePath(raw: string): CanonicalPath {
  if (!raw.startsWith("/")) {
    throw refuse("the path must begin with a slash");
  }
  if (!PLAIN.test(raw)) {
    throw refuse("the path holds a character that must be percent-encoded, or a semicolon or backslash");
  }
  const text = raw.replaceAll(/[[\]|^]/g, encodeURIComponent);
  if (!text.includes("%")) {
    const path = text.includes("//") ? text.replaceAll(/\/{2,}/g, "/") : text;
    if (path.includes("/.")) {
      refuseDotSegments(path);
    }
    return { encoded: path, decoded: path };
  }
  const encoded = text.replaceAll(/%(..?)?/g, normalizeEscape).replaceAll(/\/{2,}/g, "/");
  refuseDotSegments(encoded);
  let decoded: string;
  try {
    decoded = decodeURIComponent(encoded);
  } catch {
    throw refuse("its percent-encoded bytes are not UTF-8");
  }
  return { encoded, decoded };
}

function normalizeEscape(escape: string, hex: string | undefined, offset: number, whole: string): string {
  if (hex === undefined || !/^[0-9A-Fa-f]{2}$/.test(hex)) {
    throw refuse("a percent sign is not followed by two hexadecimal digits");
  }
  const code = Number.parseInt(hex, 16);
  const character = String.fromCharCode(code);
  if (code < 0x20 || code === 0x7f) {
    throw refuse("it holds a control character");
  }
  if (character === "/" || character === "\\" || character === ";") {
    throw refuse("it holds an encoded slash, backslash or semicolon");
  }
  if (character === "%" && /^[0-9A-Fa-f]{2}/.test(whole.slice(offset + escape.length))) {
    throw refuse("it is percent-encoded twice");
  }
  return /[A-Za-z0-9\-._~]/.test(character) ? character : `%${hex.toUpperCase()}`;
}

function refuseDotSegments(path: string): void {
  if (/\/\.{1,2}(?:\/|$)/.test(path)) {
    throw refuse('it holds a segment "." or ".."');
  }
}

function refuse(because: string): Refusal {
  return new Refusal("AMBIGUOUS_REQUEST", { because });
}
