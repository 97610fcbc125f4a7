import { MessageError } from "./message-error.ts";

/** What the ingress does with a field, by its name. */
export type FieldKind =
  | "keep"
  | "drop"
  | "host"
  | "connection"
  | "length"
  | "coding"
  | "upgrade"
  | "te"
  | "expect"
  | "accept"
  | "keep-alive"
  | "reject"
  | "forwarded-for"
  | "forwarded-proto";

/**
 * One field line (RFC 9112 §5): a token, the colon directly behind it, then no control characters but tab. No obsolete
 * line folding, no bare CR or LF. The value's class holds neither CR nor the colon's alternatives, so matching is linear.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what it keeps out
const FIELD = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([^\x00-\x08\x0a-\x1f\x7f]*)\r\n/y;
const MAX_FIELDS = 256;

/** Walks over the field lines of `text` from `from` to its end. `visit` gets the name as sent, its value, where the line starts and ends. */
export function eachField(
  text: string,
  from: number,
  visit: (name: string, value: string, start: number, end: number) => void,
): void {
  let at = from;
  for (let count = 0; at < text.length; count++) {
    if (count === MAX_FIELDS) {
      throw new MessageError(431, `there are more than ${MAX_FIELDS} header fields`);
    }
    FIELD.lastIndex = at;
    const match = FIELD.exec(text);
    if (match === null) {
      throw new MessageError(400, "a header field is not well formed");
    }
    const end = FIELD.lastIndex;
    visit(match[1] as string, trimField(match[2] as string), at, end);
    at = end;
  }
}

/** Without the spaces and tabs around it; `String.trim` takes more than HTTP allows (no-break space) and would open a way to smuggle. */
function trimField(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) {
    start++;
  }
  while (end > start && isBlank(value.charCodeAt(end - 1))) {
    end--;
  }
  return end - start === value.length ? value : value.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** A classifier that remembers the names it has seen, up to a bound that hostile names cannot push. */
export function createClassifier(classify: (lowerCase: string) => FieldKind): (name: string) => FieldKind {
  const seen = new Map<string, FieldKind>();
  return (name) => {
    let kind = seen.get(name);
    if (kind === undefined) {
      kind = classify(name.toLowerCase());
      if (seen.size < 512 && name.length <= 64) {
        seen.set(name, kind);
      }
    }
    return kind;
  };
}

/** Fields that say how the message is framed or routed; a trailer or a Connection field must not touch them. */
const STRUCTURAL = new Set(["host", "content-length", "transfer-encoding", "connection"]);

const REQUEST: ReadonlyMap<string, FieldKind> = new Map(
  Object.entries<FieldKind>({
    host: "host",
    connection: "connection",
    "content-length": "length",
    "transfer-encoding": "coding",
    upgrade: "upgrade",
    te: "te",
    expect: "expect",
    accept: "accept",
    "keep-alive": "drop",
    "proxy-connection": "drop",
    "http2-settings": "drop",
    "x-forwarded-for": "forwarded-for",
    "x-forwarded-proto": "forwarded-proto",
    "x-forwarded-host": "drop",
    "x-forwarded-port": "drop",
    "x-real-ip": "drop",
    "x-request-id": "drop",
  }),
);

/**
 * Kinds of request fields. `X_Auth_Username` reaches some programs as the same variable as `X-Auth-Username` (CGI,
 * WSGI), so a name with underscores is judged like the one with hyphens; for structural fields there is no good reading.
 */
export const classifyRequestField = createClassifier((lowerCase) => {
  const name = lowerCase.replaceAll("_", "-");
  if (name.startsWith("x-auth-")) {
    return "drop";
  }
  const kind = REQUEST.get(name) ?? "keep";
  // Under any name they go; said with underscores, they are not even read.
  if (kind.startsWith("forwarded-") && name !== lowerCase) {
    return "drop";
  }
  if (name === lowerCase || kind === "drop") {
    return kind;
  }
  return STRUCTURAL.has(name) ? "reject" : "keep";
});

const ANSWER: ReadonlyMap<string, FieldKind> = new Map(
  Object.entries<FieldKind>({
    connection: "connection",
    "content-length": "length",
    "transfer-encoding": "coding",
    upgrade: "upgrade",
    "keep-alive": "keep-alive",
    "proxy-connection": "drop",
  }),
);

export const classifyAnswerField = createClassifier((name) => ANSWER.get(name) ?? "keep");

/** The trailer lines that may pass: well formed, and nothing that frames, routes or identifies (RFC 9110 §6.5.1). */
export function filterTrailers(trailers: string, classify: (name: string) => FieldKind): string {
  let kept = "";
  if (trailers !== "") {
    eachField(trailers, 0, (name, _value, start, end) => {
      if (classify(name) === "keep" && !/^(authorization|cookie|set-cookie|content-.*|trailer)$/i.test(name)) {
        kept += trailers.slice(start, end);
      }
    });
  }
  return kept;
}

/** Those of a request: one that would frame or route it, were it a field of the head, is refused, whatever others make of it there. */
export function filterRequestTrailers(trailers: string): string {
  return filterTrailers(trailers, (name) => {
    const kind = classifyRequestField(name);
    if (STRUCTURAL.has(name.toLowerCase()) || kind === "reject") {
      throw new MessageError(400, `${name} must not be a trailer`);
    }
    return kind;
  });
}

/** The options of a Connection field, lower case (RFC 9110 §7.6.1). */
export function parseConnection(value: string): string[] {
  const options = value
    .toLowerCase()
    .split(",")
    .map(trimField)
    .filter((option) => option !== "");
  const structural = options.find((option) => STRUCTURAL.has(option.replaceAll("_", "-")));
  if (structural !== undefined) {
    throw new MessageError(400, `Connection names ${structural}, which every recipient needs`);
  }
  return options;
}

/** Field lines of `text` that `keep` wants, as they were sent. */
export function filterLines(text: string, keep: (lowerCaseName: string) => boolean): string {
  let kept = "";
  eachField(text, 0, (name, _value, start, end) => {
    if (keep(name.toLowerCase())) {
      kept += text.slice(start, end);
    }
  });
  return kept;
}

/** A Content-Length (RFC 9110 §8.6): digits only, no list, no sign, exactly representable. */
export function parseLength(value: string): number {
  if (!/^\d{1,15}$/.test(value)) {
    throw new MessageError(400, "Content-Length is not a number");
  }
  return Number(value);
}
