import type { IncomingMessage } from "node:http";

/** A token in an address, as JupyterHub's clients write it, and the address without it, as the server gets it. */
export interface AddressToken {
  readonly token: string;
  readonly path: string;
}

/**
 * The token in `?token=`. Undefined for browsers: a link must let nobody in, and what a server answers below the hub's host would be a page
 * beside the hub's own.
 */
export function readAddressToken({ headers }: IncomingMessage, path: string): AddressToken | undefined {
  if (headers.cookie !== undefined || headers["sec-fetch-mode"] !== undefined) {
    return undefined;
  }
  const at = path.indexOf("?");
  const fields = at < 0 ? [] : path.slice(at + 1).split("&");
  const own = fields.find((field) => field.startsWith("token="));
  if (own === undefined) {
    return undefined;
  }
  const rest = fields.filter((field) => !field.startsWith("token="));
  return {
    token: own.slice("token=".length),
    path: `${path.slice(0, at)}${rest.length === 0 ? "" : `?${rest.join("&")}`}`,
  };
}

/** Whether a path of the hub's host is one of a server, as in JupyterHub: `/user/<user>/…`. */
export const isServerPath = (path: string): boolean => path.startsWith("/user/");

/** What would change the hub's host, or how browsers treat it. */
const OF_THE_HOST = new Set([
  "set-cookie",
  "clear-site-data",
  "service-worker-allowed",
  "strict-transport-security",
  "alt-svc",
  "nel",
  "report-to",
  "reporting-endpoints",
  "content-security-policy",
  "content-security-policy-report-only",
  "x-content-type-options",
]);

/** Headers of a server's answer on the hub's host: it sets nothing there, and a browser that shows it gives it no origin. */
export function toSandboxedHeaders(headers: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    if (!OF_THE_HOST.has(name.toLowerCase())) {
      kept.push(name, headers[index + 1] as string);
    }
  }
  return [...kept, "Content-Security-Policy", "sandbox; frame-ancestors 'none'", "X-Content-Type-Options", "nosniff"];
}
