/** Stands for the user and password of an address. */
const MASK = "***";

/**
 * A text in which no address has a login: `https://user:password@host/` becomes `https://***@host/`. Everything that services show of
 * addresses which people gave goes through this: logs, problem details, lists.
 */
export function maskCredentials(text: string): string {
  return text.includes("@") ? text.replaceAll(LOGIN, `://${MASK}@`) : text;
}

/**
 * A login cannot hold these characters; up to the last @ of it, as the parser of URLs has it (WHATWG URL, authority state). It begins after
 * the scheme: a pattern of that would try one at each letter of a long text.
 */
const LOGIN = /:\/\/[^\s/?#"'<>\\]{0,2000}@/g;

/** The same for every text of a value as it is sent in JSON. */
export function maskCredentialsIn(value: unknown): unknown {
  if (typeof value === "string") {
    return maskCredentials(value);
  }
  if (Array.isArray(value)) {
    return value.map(maskCredentialsIn);
  }
  return typeof value === "object" && value !== null && isPlain(value)
    ? Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, maskCredentialsIn(entry)]))
    : value;
}

/**
 * What came back masked gets its login again, where it stands for the same host as before; anything else stays as it is. For values that
 * people are shown, change and send back.
 */
export function restoreCredentials(sent: unknown, kept: unknown): unknown {
  if (typeof sent === "string") {
    return typeof kept === "string" && sent.includes(`${MASK}@`) && originOf(sent) === originOf(maskCredentials(kept))
      ? sent.replace(LOGIN, () => kept.match(LOGIN)?.[0] ?? "")
      : sent;
  }
  if (Array.isArray(sent)) {
    return sent.map((entry, index) => restoreCredentials(entry, Array.isArray(kept) ? kept[index] : undefined));
  }
  return typeof sent === "object" && sent !== null && isPlain(sent)
    ? Object.fromEntries(
        Object.entries(sent).map(([name, entry]) => [name, restoreCredentials(entry, memberOf(kept, name))]),
      )
    : sent;
}

const originOf = (text: string): string | undefined => {
  if (!URL.canParse(text)) {
    return undefined;
  }
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`;
};

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
