import { drainBody, toProblem } from "@swath/service";
import type { IncomingMessage, ServerResponse } from "node:http";

/** Extra headers of an answer of the gatekeeper itself; lists become several headers. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[]>>;

const COMMON: ResponseHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

interface ServiceResponse {
  readonly status: number;
  readonly type?: string;
  readonly body?: string;
  readonly headers?: ResponseHeaders;
}

/**
 * Sends an answer of the gatekeeper itself. What is left of the request's body is read for a while: to close at once would reset the
 * connection while the ingress still sends, and lose the answer.
 */
export function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { status, type, body = "", headers = {} }: ServiceResponse,
): void {
  response.writeHead(status, {
    ...COMMON,
    ...(type !== undefined && { "content-type": type }),
    "content-length": Buffer.byteLength(body),
    ...(headers as Record<string, string | string[]>),
  });
  response.end(request.method === "HEAD" ? undefined : body);
  drainBody(request);
}

/** Sends JSON. */
export function respondJson(
  request: IncomingMessage,
  response: ServerResponse,
  value: unknown,
  { status = 200, headers = {} }: { readonly status?: number; readonly headers?: ResponseHeaders } = {},
): void {
  respond(request, response, { status, type: "application/json", body: `${JSON.stringify(value)}\n`, headers });
}

/** Sends an error: problem details (RFC 9457), or a page to people who look with a browser. */
export function respondProblem(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  headers: ResponseHeaders = {},
): void {
  const problem = toProblem(error);
  const all = { ...problem.headers, ...headers };
  if (isNavigation(request)) {
    const { title, detail = "" } = problem.body;
    const type = "text/html; charset=utf-8";
    respond(request, response, { status: problem.status, type, body: renderPage(title, detail), headers: all });
  } else {
    const type = "application/problem+json";
    respond(request, response, {
      status: problem.status,
      type,
      body: `${JSON.stringify(problem.body)}\n`,
      headers: all,
    });
  }
}

/** A person following a link or typing an address, as opposed to a script or program. */
export function isNavigation({ method, headers }: IncomingMessage): boolean {
  return (
    (method === "GET" || method === "HEAD") &&
    headers["sec-fetch-mode"] === "navigate" &&
    headers.accept?.includes("text/html") === true
  );
}

function renderPage(title: string, detail: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:15vh auto 0;padding:0 1rem}</style>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(detail)}</p>
<p><a href="/oauth/logout">Log out and use another account</a></p>
</main>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
