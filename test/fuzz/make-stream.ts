/** Numbers that come again with the same seed (mulberry32). */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Random = ReturnType<typeof createRandom>;

const METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "PROPFIND", "CONNECT"];
const TARGETS = [
  "/",
  "/a?b=c",
  "/%00",
  "*",
  "http://a.test/x",
  "http://a.test",
  "//b/",
  "/a b",
  "/é",
  "a.test:80",
  "/#x",
  "",
];
const VERSIONS = [
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.0",
  "HTTP/2.0",
  "HTTP/1.2",
  "http/1.1",
  "HTTP/1.1 ",
  "HTTP/0.9",
];
const LENGTHS = [
  "0",
  "3",
  "5",
  "05",
  "+5",
  "-1",
  "5, 5",
  "0x5",
  "5 ",
  "\t5",
  "5;",
  "",
  "99999999999999999999",
  "5\u000b",
  "٣",
];
const CODINGS = [
  "chunked",
  "Chunked",
  "chunked ",
  "identity",
  "gzip, chunked",
  "chunked, chunked",
  "chunked;q=1",
  "\tchunked",
  "chunked\t",
  "chunked \t ",
  "xchunked",
  "chunked\u000b",
  "",
];
const NAMES = [
  "X-A",
  "Content-Length",
  "Transfer-Encoding",
  "Connection",
  "Host",
  "Expect",
  "Upgrade",
  "Content_Length",
  "Content-Length ",
  " X",
  "TE",
  "Trailer",
  "X\u0000",
];
const OTHERS = [
  "close",
  "keep-alive",
  "upgrade",
  "100-continue",
  "websocket",
  "h2c",
  "a.test",
  "x",
  "a\u0000b",
  "a\rb",
  "content-length",
  "é",
];
const ENDS = ["\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r", "\r\n ", "\n\r", "\r\r\n"];
const SIZES = [
  "5",
  "05",
  "5;a=b",
  "5 ;a",
  "5 ",
  " 5",
  "+5",
  "0x5",
  '5\t;x="\r"',
  "5;\n",
  "ffffffffffff",
  '5;a="b',
  "G",
  "",
  "-5",
  "1_0",
  "5,5",
];

/** One to three requests behind each other, most of them nearly right. */
export function makeStream(random: Random): Buffer {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const seldom = (often: number) => random(often) === 0;
  const end = () => (seldom(25) ? pick(ENDS) : "\r\n");

  const chunk = (): string => {
    const data = "abcde".slice(0, 1 + random(5));
    const size = seldom(6) ? pick(SIZES) : data.length.toString(16);
    return `${size}${end()}${data}${end()}`;
  };
  const chunks = (): string => {
    const trailer = seldom(6) ? `${pick(NAMES)}: ${pick([...OTHERS, ...LENGTHS])}${end()}` : "";
    const last = seldom(12) ? pick(["00", "0;x", "0 ", "-0", "0x0", "000000000000"]) : "0";
    return `${Array.from({ length: random(3) }, chunk).join("")}${last}${end()}${trailer}${end()}`;
  };
  const request = (): string => {
    const fields: string[] = seldom(20)
      ? []
      : [`Host: ${seldom(15) ? pick(["a b", "", "a.test:x", "u@a"]) : "a.test"}`];
    let body = "";
    switch (random(6)) {
      case 0:
      case 1:
        fields.push(`Content-Length: 5`);
        body = "GET /"; // A body that looks like a request is what smuggling lives on.
        break;
      case 2:
      case 3:
        fields.push(`Transfer-Encoding: chunked`);
        body = chunks();
        break;
      case 4:
        fields.push(seldom(2) ? `Content-Length:${pick(LENGTHS)}` : `Transfer-Encoding:${pick(CODINGS)}`);
        body = seldom(2) ? chunks() : "12345";
        break;
      default:
        break;
    }
    for (let count = random(3); count > 0; count -= 1) {
      const value = pick([...OTHERS, ...LENGTHS, ...CODINGS]);
      fields.splice(
        random(fields.length + 1),
        0,
        `${pick(NAMES)}${seldom(20) ? pick([" :", "", ":\t", ";"]) : ": "}${value}`,
      );
    }
    const method = seldom(30) ? pick(["get", "G(T", "", "GET\t", "M-SEARCH"]) : pick(METHODS);
    const target = seldom(4) ? pick(TARGETS) : "/p";
    const version = seldom(8) ? pick(VERSIONS) : "HTTP/1.1";
    const space = () => (seldom(40) ? pick(["  ", "\t", "\u000b", ""]) : " ");
    const before = seldom(15) ? pick(["\r\n", "\n", " ", "\r\n\r\n", "\u0000"]) : "";
    const head = [`${method}${space()}${target}${space()}${version}`, ...fields]
      .map((line) => `${line}${end()}`)
      .join("");
    return `${before}${head}${end()}${body}`;
  };
  const bytes = Buffer.from(Array.from({ length: 1 + random(3) }, request).join(""), "latin1");
  // Now and then a byte anywhere is another, is gone, or comes twice.
  for (let count = seldom(3) ? 1 + random(2) : 0; count > 0 && bytes.length > 0; count -= 1) {
    bytes[random(bytes.length)] = pick([0, 9, 10, 11, 13, 32, 44, 48, 58, 59, 127, 133, 160, 255]);
  }
  return bytes;
}

/** The same bytes in pieces as a network might bring them. */
export function cutStream(bytes: Buffer, random: Random): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const next = Math.min(bytes.length, at + 1 + random(random(2) === 0 ? 4 : bytes.length));
    pieces.push(bytes.subarray(at, next));
    at = next;
  }
  return pieces;
}
