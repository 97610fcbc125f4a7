import type { Framing } from "./body-reader.ts";
import { classifyRequestField, eachField, filterLines, parseConnection, parseLength } from "./fields.ts";
import { MessageError } from "./message-error.ts";

/** A request's head, checked, with the lines that may go to the upstream. */
export interface RequestHead {
  readonly method: string;
  /** Origin form (`/path?query`) or `*`. */
  readonly target: string;
  /** The value of Host, or of the absolute form's authority. */
  readonly host: string;
  readonly http10: boolean;
  readonly framing: Framing;
  /** Whether the client wants the connection to stay open. */
  readonly keepAlive: boolean;
  /** The protocols that it asks to change to. */
  readonly upgrade: string | undefined;
  readonly expectsContinue: boolean;
  readonly acceptsTrailers: boolean;
  readonly accept: string;
  /** What proxies in front claim, several fields joined by commas: not to be believed of anybody else. */
  readonly forwardedFor: string;
  readonly forwardedProto: string;
  /** End-to-end field lines as sent, each with CR LF; Host, framing, hop-by-hop and forwarding fields are not among them. */
  readonly lines: string;
}

const END_OF_HEAD = Buffer.from("\r\n\r\n");

/**
 * The text of the head that `bytes` begin with, as `parseRequestHead` takes it, and how many of them it takes up; `undefined` while its end
 * has not arrived.
 * @throws {MessageError} 431 for one that is too large, 400 for one that will never be right
 */
export function cutRequestHead(
  bytes: Buffer,
  limit: number,
): { readonly text: string; readonly length: number } | undefined {
  // An empty line before a request is a known slip of old clients (RFC 9112 §2.2).
  const start = bytes[0] === 0x0d && bytes[1] === 0x0a ? 2 : 0;
  const end = bytes.indexOf(END_OF_HEAD, start);
  if (end === -1 || end - start > limit) {
    if (bytes.length > limit) {
      throw new MessageError(431, `the request's head is larger than ${limit} bytes`);
    }
    if (/(^|[^\r])\n/.test(bytes.toString("latin1"))) {
      throw new MessageError(400, "a line of the head does not end with CR LF");
    }
    return undefined;
  }
  return { text: bytes.toString("latin1", start, end + 2), length: end + 4 };
}

const START = /([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) ([\x21\x22\x24-\x7e]+) HTTP\/1\.([01])\r\n/y;
const TAB_AT_END = /\t[\t ]*\r\n$/;
const AUTHORITY = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;
const ABSOLUTE = /^https?:\/\/([^/?#@]+)(.*)$/i;

/**
 * Parses a request's head, `text` being everything up to and with the last field's CR LF.
 * Accepts only what RFC 9112 spells out; whatever two parsers could read differently is refused.
 * @throws {MessageError} with the status to answer
 */
export function parseRequestHead(text: string): RequestHead {
  START.lastIndex = 0;
  const start = START.exec(text);
  if (start === null) {
    throw startLineError(text);
  }
  const method = start[1] as string;
  const http10 = start[3] === "0";
  let target = start[2] as string;
  let host: string | undefined;
  let lines = "";
  let runStart = START.lastIndex;
  let length: string | undefined;
  let coding: string | undefined;
  let options: string[] | undefined;
  let upgrade: string | undefined;
  let te = "";
  let accept = "";
  let forwardedFor = "";
  let forwardedProto = "";
  let expectsContinue = false;

  eachField(text, runStart, (name, value, from, end) => {
    const kind = classifyRequestField(name);
    if (kind === "keep") {
      return;
    }
    if (kind === "accept") {
      accept = value;
      return;
    }
    if (kind === "expect") {
      if (value.toLowerCase() !== "100-continue") {
        throw new MessageError(417, "Expect can only be 100-continue");
      }
      expectsContinue = true;
    }
    if (kind !== "expect") {
      // Lines that stay are copied in whole runs: most requests need one or two copies.
      lines += text.slice(runStart, from);
      runStart = end;
    }
    switch (kind) {
      case "host":
        refuseSecond(host, "Host");
        host = value;
        break;
      case "length":
        refuseSecond(length, "Content-Length");
        length = value;
        break;
      case "coding":
        refuseSecond(coding, "Transfer-Encoding");
        // Whitespace to HTTP; other parsers read another coding.
        if (TAB_AT_END.test(text.slice(from, end))) {
          throw new MessageError(400, "Transfer-Encoding ends with a tab");
        }
        coding = value;
        break;
      case "connection":
        options = (options ?? []).concat(parseConnection(value));
        break;
      case "upgrade":
        upgrade = upgrade === undefined ? value : `${upgrade}, ${value}`;
        break;
      case "forwarded-for":
        forwardedFor = forwardedFor === "" ? value : `${forwardedFor},${value}`;
        break;
      case "forwarded-proto":
        forwardedProto = forwardedProto === "" ? value : `${forwardedProto},${value}`;
        break;
      case "te":
        te += `,${value.toLowerCase()}`;
        break;
      case "reject":
        throw new MessageError(400, `${name} is not a field, but looks like one that frames the message`);
      default:
        break;
    }
  });
  lines += text.slice(runStart);

  if (host === undefined && !http10) {
    throw new MessageError(400, "there is no Host field");
  }
  // In any form: there is nothing here to be connected to.
  if (method === "CONNECT") {
    throw new MessageError(405, "CONNECT is not offered here");
  }
  if (target.charCodeAt(0) !== 0x2f) {
    [target, host] = parseOtherForm(method, target, host ?? "");
  }
  if (host !== undefined && host !== "" && !AUTHORITY.test(host)) {
    throw new MessageError(400, "Host is not a host name");
  }
  const wantsClose = options?.includes("close") ?? false;
  const wantsUpgrade = upgrade !== undefined && !http10 && (options?.includes("upgrade") ?? false);
  const hopByHop = options?.filter((option) => option !== "close" && option !== "keep-alive" && option !== "upgrade");
  if (hopByHop !== undefined && hopByHop.length > 0) {
    lines = filterLines(lines, (name) => !hopByHop.includes(name));
  }
  return {
    method,
    target,
    host: host ?? "",
    http10,
    framing: frameRequest(length, coding, http10),
    keepAlive: !http10 && !wantsClose,
    upgrade: wantsUpgrade ? pickProtocols(upgrade) : undefined,
    expectsContinue: expectsContinue && !http10,
    acceptsTrailers: te !== "" && /,[\t ]*trailers[\t ]*(,|$)/.test(te),
    accept,
    forwardedFor,
    forwardedProto,
    lines,
  };
}

function refuseSecond(first: string | undefined, name: string): void {
  if (first !== undefined) {
    throw new MessageError(400, `there is more than one ${name} field`);
  }
}

/** RFC 9112 §6.1 and §6.3, without any of the repairs that they permit. */
function frameRequest(length: string | undefined, coding: string | undefined, http10: boolean): Framing {
  if (coding !== undefined) {
    if (length !== undefined) {
      throw new MessageError(400, "there are both Content-Length and Transfer-Encoding");
    }
    if (http10) {
      throw new MessageError(400, "HTTP/1.0 has no Transfer-Encoding");
    }
    if (coding.toLowerCase() !== "chunked") {
      throw new MessageError(501, "the only transfer coding here is chunked");
    }
    return { kind: "chunked" };
  }
  if (length === undefined) {
    return { kind: "none" };
  }
  return { kind: "length", length: parseLength(length) };
}

/** Absolute form (RFC 9112 §3.2.2; its authority wins over Host) and `OPTIONS *`. */
function parseOtherForm(method: string, target: string, host: string): [string, string] {
  if (target === "*" && method === "OPTIONS") {
    return [target, host];
  }
  const absolute = ABSOLUTE.exec(target);
  if (absolute === null) {
    throw new MessageError(400, "the request target is not a path");
  }
  const path = absolute[2] as string;
  return [path.startsWith("/") ? path : `/${path}`, absolute[1] as string];
}

/** h2c would carry requests past every check here, so it is never offered upstream. */
function pickProtocols(upgrade: string | undefined): string | undefined {
  const protocols = (upgrade ?? "")
    .split(",")
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== "" && !/^h2c?($|\/)/i.test(protocol));
  return protocols.length > 0 ? protocols.join(", ") : undefined;
}

function startLineError(text: string): MessageError {
  return / HTTP\/([02-9]|1\.[2-9])[^\r\n]*\r\n/.test(text.slice(0, text.indexOf("\n") + 1))
    ? new MessageError(505, "only HTTP/1.1 and HTTP/1.0 are spoken here")
    : new MessageError(400, "the request line is not well formed");
}
