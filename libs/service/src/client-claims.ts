import type { IncomingMessage, Server } from "node:http";

/** The gatekeeper says who somebody is in these. CGI-style programs take `_` and `.` for `-`. */
const CLAIM = /^x[-_.]auth[-_.]/i;

/**
 * Drops from requests the fields in which only the gatekeeper may say who somebody is, unless the request is for one of
 * `protectedHosts` (`ades.example.org`, `*.objstore.example.org`, `catalogue.*.example.org`), which nobody but the gatekeeper sends on.
 */
export function dropClientClaims(server: Server, protectedHosts: readonly string[]): void {
  const drop = (request: IncomingMessage) => {
    if (isProtected(request.headers.host, protectedHosts)) {
      return;
    }
    const claims = Object.keys(request.headers).filter((name) => CLAIM.test(name));
    if (claims.length === 0) {
      return;
    }
    // Node.js reads both of these from the raw fields at first use, and counts on those being whole then.
    const { headers, headersDistinct } = request;
    for (const name of claims) {
      Reflect.deleteProperty(headers, name);
      Reflect.deleteProperty(headersDistinct, name);
    }
    for (let i = request.rawHeaders.length - 2; i >= 0; i -= 2) {
      if (CLAIM.test(request.rawHeaders[i] ?? "")) {
        request.rawHeaders.splice(i, 2);
      }
    }
  };
  for (const event of ["request", "checkContinue", "checkExpectation", "upgrade"]) {
    // A listener of `checkContinue` or `upgrade` changes what the server does; only where there is one is there one more.
    if (event === "request" || server.listenerCount(event) > 0) {
      server.prependListener(event, drop);
    }
  }
}

/** A star stands for one label. */
const matchesLabel = (name: readonly string[], pattern: readonly string[]): boolean =>
  name.length === pattern.length &&
  pattern.every((label, at) => name[at] !== "" && (label === "*" || label === name[at]));

function isProtected(host: string | undefined, protectedHosts: readonly string[]): boolean {
  const name = (host ?? "").toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "");
  return protectedHosts.some((one) =>
    one.includes("*") ? matchesLabel(name.split("."), one.split(".")) : name === one,
  );
}
