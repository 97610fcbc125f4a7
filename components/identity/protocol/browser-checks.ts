import type { FastifyInstance } from "fastify";

const PAGE = (script: string) =>
  `<!doctype html><meta charset="utf-8"><title>check</title><script src="${script}"></script>`;

/**
 * Pages that existing browser adapters load in hidden frames: whether cookies of another site are let through, and whether the
 * session still lives. Browsers block such cookies by now, which is what the first answers; adapters then do without the second.
 */
export function addBrowserChecks(app: FastifyInstance): void {
  const base = "/realms/:realm/protocol/openid-connect";
  const report = (message: string) => `window.parent.postMessage(${JSON.stringify(message)}, "*");\n`;
  for (const [path, message] of [
    [`${base}/3p-cookies/step1`, "unsupported"],
    [`${base}/3p-cookies/step2`, "unsupported"],
    [`${base}/login-status-iframe`, "unchanged"],
  ] as const) {
    const file = path.slice(path.lastIndexOf("/") + 1);
    app.get(`${path}.html`, { schema: { hide: true } }, (_request, reply) =>
      reply
        .headers({ "content-security-policy": "default-src 'none'; script-src 'self'", "cache-control": "no-store" })
        .type("text/html; charset=utf-8")
        .send(PAGE(`${file}.js`)),
    );
    app.get(`${path}.js`, { schema: { hide: true } }, (_request, reply) =>
      reply
        .type("text/javascript; charset=utf-8")
        .send(
          file === "login-status-iframe"
            ? `window.addEventListener("message", (event) => event.source.postMessage(${JSON.stringify(message)}, event.origin));\n`
            : report(message),
        ),
    );
  }
}
