import { STATUS_CODES } from "node:http";

import { HSTS_VALUE } from "./security-fields.ts";

/** An answer of the ingress itself. */
export interface OwnResponse {
  readonly status: number;
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  /** Shown as a list: hosts that exist. */
  readonly hosts?: readonly string[];
  readonly requestId?: string | undefined;
}

/** Renders an answer as a whole HTTP/1.1 message: problem details (RFC 9457), or a page for those who ask for HTML. */
export function renderResponse(
  response: OwnResponse,
  { accept, method, close, tls }: { accept: string; method: string; close: boolean; tls: boolean },
): { text: string; bodyBytes: number } {
  const title = STATUS_CODES[response.status] ?? "Error";
  const html = /\btext\/html\b/i.test(accept);
  const body = html ? renderPage(title, response) : renderProblem(title, response);
  const bytes = Buffer.byteLength(body);
  const headers: Record<string, string | number> = {
    "Content-Type": html ? "text/html; charset=utf-8" : "application/problem+json",
    "Content-Length": bytes,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...(html && { "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'" }),
    ...(tls && { "Strict-Transport-Security": HSTS_VALUE }),
    Vary: "Accept",
    Date: new Date().toUTCString(),
    ...response.headers,
    ...(close && { Connection: "close" }),
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `HTTP/1.1 ${response.status} ${title}\r\n${head.join("")}\r\n${method === "HEAD" ? "" : body}`;
  return { text, bodyBytes: method === "HEAD" ? 0 : bytes };
}

function renderProblem(title: string, { status, detail, hosts, requestId }: OwnResponse): string {
  return JSON.stringify({ type: "about:blank", title, status, detail, ...(hosts && { hosts }), requestId });
}

function renderPage(title: string, { status, detail, hosts, requestId, headers }: OwnResponse): string {
  const list = hosts?.map((host) => `<li><a href="//${escapeHtml(host)}">${escapeHtml(host)}</a></li>`).join("\n");
  // A pod that is starting will be there in a moment: the page looks again by itself.
  const refresh = headers?.["Retry-After"];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refresh === undefined ? "" : `<meta http-equiv="refresh" content="${refresh}">\n`}<title>${status} ${escapeHtml(title)}</title>
<style>
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 12vh auto; padding: 0 1.5rem; }
h1 { font-size: 1.5rem; }
small { opacity: 0.7; }
</style>
</head>
<body>
<main>
<h1>${status} ${escapeHtml(title)}</h1>
<p>${escapeHtml(detail)}</p>
${list === undefined ? "" : `<p>These hosts exist:</p>\n<ul>\n${list}\n</ul>\n`}${requestId === undefined ? "" : `<p><small>Request ${requestId}</small></p>\n`}</main>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
