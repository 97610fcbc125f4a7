import { type ServerResponse, STATUS_CODES } from "node:http";

const SECURITY = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'",
};

export function sendText(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response
    .writeHead(status, {
      ...SECURITY,
      "content-type": "text/plain; charset=utf-8",
      ...(status === 503 && { "retry-after": "2" }),
      ...(status === 424 && { "retry-after": "5" }),
    })
    .end(`${text}\n`);
}

export function sendJson(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { ...SECURITY, "content-type": "application/json" }).end(body);
}

export function redirect(response: ServerResponse, location: string, setCookies: readonly string[]): void {
  response
    .writeHead(302, { ...SECURITY, location, ...(setCookies.length > 0 && { "set-cookie": [...setCookies] }) })
    .end();
}

export function toSocketText(status: number, text: string): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`;
}
