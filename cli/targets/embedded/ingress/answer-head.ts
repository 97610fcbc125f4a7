import type { Framing } from "./body-reader.ts";
import { classifyAnswerField, eachField, filterLines, parseConnection, parseLength } from "./fields.ts";
import { MessageError } from "./message-error.ts";

/** An upstream's answer head, checked, with the lines that may go to the client. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  readonly framing: Framing;
  /** Whether the upstream keeps the connection. */
  readonly keepAlive: boolean;
  /** Seconds that the upstream says it keeps an idle connection. */
  readonly idleSeconds: number | undefined;
  /** The value of Upgrade. */
  readonly upgrade: string | undefined;
  /** End-to-end field lines as sent, Content-Length among them; no Transfer-Encoding, no hop-by-hop fields. */
  readonly lines: string;
}

// oxlint-disable-next-line no-control-regex -- control characters are what it keeps out
const STATUS_LINE = /HTTP\/1\.([01]) ([1-5]\d\d)(?: ([^\x00-\x08\x0a-\x1f\x7f]*))?\r\n/y;

/**
 * Parses an answer's head, `text` being everything up to and with the last field's CR LF. `method` is the request's:
 * an answer to HEAD has no body.
 * @throws {MessageError} 502
 */
export function parseAnswerHead(text: string, method: string): ResponseHead {
  STATUS_LINE.lastIndex = 0;
  const start = STATUS_LINE.exec(text);
  if (start === null) {
    throw new MessageError(502, "the answer's first line is not well formed");
  }
  const status = Number(start[2]);
  const http10 = start[1] === "0";
  let lines = "";
  let runStart = STATUS_LINE.lastIndex;
  let length: string | undefined;
  let coding: string | undefined;
  let options: string[] | undefined;
  let upgrade: string | undefined;
  let idleSeconds: number | undefined;

  eachField(text, runStart, (name, value, from, end) => {
    const kind = classifyAnswerField(name);
    if (kind === "keep") {
      return;
    }
    if (kind === "length") {
      if (length !== undefined && length !== value) {
        throw new MessageError(502, "the answer has two different lengths");
      }
      if (length === undefined) {
        length = value;
        return;
      }
    }
    lines += text.slice(runStart, from);
    runStart = end;
    switch (kind) {
      case "coding":
        if (coding !== undefined || value.toLowerCase() !== "chunked") {
          throw new MessageError(502, "the answer has a transfer coding other than chunked");
        }
        coding = value;
        break;
      case "connection":
        options = (options ?? []).concat(parseConnection(value));
        break;
      case "upgrade":
        upgrade = value;
        break;
      case "keep-alive":
        idleSeconds = parseIdle(value);
        break;
      default:
        break;
    }
  });
  lines += text.slice(runStart);
  if (length !== undefined && coding !== undefined) {
    throw new MessageError(502, "the answer has both Content-Length and Transfer-Encoding");
  }
  const hopByHop = options?.filter((option) => option !== "close" && option !== "keep-alive" && option !== "upgrade");
  if (hopByHop !== undefined && hopByHop.length > 0) {
    lines = filterLines(lines, (name) => !hopByHop.includes(name));
  }
  return {
    status,
    reason: start[3] ?? "",
    framing: frameResponse(status, method, length, coding),
    keepAlive: http10 ? (options?.includes("keep-alive") ?? false) : !(options?.includes("close") ?? false),
    idleSeconds,
    upgrade,
    lines,
  };
}

/** RFC 9112 §6.3, for answers. */
function frameResponse(
  status: number,
  method: string,
  length: string | undefined,
  coding: string | undefined,
): Framing {
  const bytes = length === undefined ? undefined : parseLength(length);
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) {
    return { kind: "none" };
  }
  if (coding !== undefined) {
    return { kind: "chunked" };
  }
  return bytes === undefined ? { kind: "close" } : { kind: "length", length: bytes };
}

function parseIdle(value: string): number | undefined {
  const seconds = /(?:^|[\s,])timeout=(\d{1,6})/i.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}
