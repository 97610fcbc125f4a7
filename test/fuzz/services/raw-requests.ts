import { once } from "node:events";
import { connect } from "node:net";

/** Requests that no client library sends: odd targets and fields, bodies that are cut off. `CUT` ends the connection. */
const RAW: readonly (readonly [name: string, head: readonly string[], body?: string])[] = [
  ["OPTIONS *", ["OPTIONS * HTTP/1.1", "host: HOST"]],
  ["GET *", ["GET * HTTP/1.1", "host: HOST"]],
  ["absolute form", ["GET http://HOST/ HTTP/1.1", "host: HOST"]],
  ["absolute form of nothing", ["GET http:// HTTP/1.1", "host: HOST"]],
  ["absolute form with a wrong port", ["GET http://a:99999/ HTTP/1.1", "host: HOST"]],
  ["absolute form with a wrong host", ["GET http://[::/ HTTP/1.1", "host: HOST"]],
  ["a target of slashes", ["GET //// HTTP/1.1", "host: HOST"]],
  ["a target that is a host", ["GET //a:b@c HTTP/1.1", "host: HOST"]],
  ["wrong percent-encoding", ["GET /%/%f/%ff%fe/%ED%A0%80?%=%ff HTTP/1.1", "host: HOST"]],
  ["NUL in the path", ["GET /%00/%2e%2e/%5c HTTP/1.1", "host: HOST"]],
  ["bytes beyond ASCII", ["GET /\u00ff\u00fe?\u00ff HTTP/1.1", "host: HOST"]],
  ["a long target", [`GET /${"a".repeat(15_000)} HTTP/1.1`, "host: HOST"]],
  ["a long query", [`GET /?${"a=b&".repeat(3500)} HTTP/1.1`, "host: HOST"]],
  ["a wrong host", ["GET / HTTP/1.1", "host: [::"]],
  ["an empty host", ["GET / HTTP/1.1", "host:"]],
  ["a host of another", ["GET / HTTP/1.1", "host: constructor"]],
  ["bytes in the host", ["GET / HTTP/1.1", "host: \u00ff\u0080"]],
  ["many fields", ["GET / HTTP/1.1", "host: HOST", ...Array.from({ length: 900 }, (_, i) => `a${i}: b`)]],
  [
    "bytes in fields",
    ["GET / HTTP/1.1", "host: HOST", "authorization: \u00ff", "cookie: \u00ff=\u00fe", "range: \u0080"],
  ],
  ["a long token", ["GET / HTTP/1.1", "host: HOST", `authorization: Bearer ${".".repeat(10_000)}`]],
  ["a token of three dots", ["GET / HTTP/1.1", "host: HOST", "authorization: Bearer e30.e30.e30"]],
  ["a wrong login", ["GET / HTTP/1.1", "host: HOST", "authorization: Basic %%%"]],
  ["an unknown expectation", ["POST / HTTP/1.1", "host: HOST", "expect: a", "content-length: 0"]],
  [
    "an expectation of nothing",
    ["PUT /a/b HTTP/1.1", "host: HOST", "expect: 100-continue", "content-length: 5"],
    "CUT",
  ],
  [
    "a body that is cut off",
    ["POST / HTTP/1.1", "host: HOST", "content-type: application/json", "content-length: 50"],
    "{CUT",
  ],
  [
    "a chunk that is cut off",
    ["POST / HTTP/1.1", "host: HOST", "content-type: application/json", "transfer-encoding: chunked"],
    "50\r\n{CUT",
  ],
  ["a chunk of no size", ["PUT /a/b HTTP/1.1", "host: HOST", "transfer-encoding: chunked"], "zz\r\n{"],
  [
    "a chunk of any size",
    ["PUT /a/b HTTP/1.1", "host: HOST", "transfer-encoding: chunked"],
    "ffffffffffffffff\r\n{CUT",
  ],
  [
    "a form that is cut off",
    ["POST /a HTTP/1.1", "host: HOST", "content-type: multipart/form-data; boundary=a", "content-length: 500"],
    "--a\r\nCUT",
  ],
  [
    "a multipart body without a boundary",
    ["POST /a HTTP/1.1", "host: HOST", "content-type: multipart/form-data", "content-length: 1"],
    "a",
  ],
  [
    "a compressed body that is none",
    ["POST / HTTP/1.1", "host: HOST", "content-type: application/json", "content-encoding: gzip", "content-length: 2"],
    "{}",
  ],
  ["an unknown type", ["POST / HTTP/1.1", "host: HOST", "content-type: ;=/", "content-length: 2"], "{}"],
  [
    "an upgrade",
    ["GET / HTTP/1.1", "host: HOST", "connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13"],
  ],
  ["an upgrade to anything", ["GET /%ff HTTP/1.1", "host: HOST", "connection: upgrade", "upgrade: a"]],
  ["CONNECT", ["CONNECT a:443 HTTP/1.1", "host: HOST"]],
  ["TRACE", ["TRACE / HTTP/1.1", "host: HOST"]],
  ["an unknown method", ["PROPFIND / HTTP/1.1", "host: HOST"]],
  ["HTTP/1.0", ["GET / HTTP/1.0"]],
];

export interface RawRequest {
  readonly name: string;
  readonly bytes: Buffer;
  readonly isCut: boolean;
}

/** @param paths of the service, to send bodies that are cut off where bodies are read */
export function listRawRequests(host: string, paths: readonly string[]): readonly RawRequest[] {
  return [undefined, ...paths].flatMap((path) =>
    RAW.map(([name, head, body = ""]) => ({
      name: path === undefined ? name : `${name} at ${path}`,
      bytes: Buffer.from(
        [...head.map((line) => line.replace("HOST", host)), "", body.replace("CUT", "")]
          .join("\r\n")
          .replace(/^(GET|POST|PUT) \/(?:a\/b|a)? /, (first, method: string) =>
            path === undefined ? first : `${method} ${path} `,
          ),
        "latin1",
      ),
      isCut: body.includes("CUT"),
    })),
  );
}

const WAIT_MS = 2000;

/** Sends bytes to a socket. @returns the status of the answer; undefined where the connection ended without one */
export async function sendRaw(socketPath: string, { bytes, isCut }: RawRequest): Promise<number | undefined> {
  const socket = connect(socketPath);
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => {
    text += part;
    if (text.includes("\r\n\r\n")) {
      socket.destroy();
    }
  });
  // Its end is what counts.
  socket.on("error", () => {});
  socket.setTimeout(WAIT_MS, () => socket.destroy());
  if (isCut) {
    socket.write(bytes, () => setTimeout(() => socket.destroy(), 20));
  } else {
    socket.write(bytes);
  }
  await once(socket, "close");
  const status = /^HTTP\/1\.\d (\d{3})/.exec(text)?.[1];
  return status === undefined ? undefined : Number(status);
}
