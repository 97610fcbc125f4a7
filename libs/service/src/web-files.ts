import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { Problem } from "./problem.ts";

interface WebFilesOptions {
  /** Where the build is: `components/<c>/web/dist`. */
  readonly directory: string;
  /** Paths below which there are no pages: an unknown one is a 404 for programs. `/api/` when left out. */
  readonly programs?: readonly string[];
  /** The app's only pages, with what is below them; all that no program answers when left out. */
  readonly pages?: readonly string[];
  /** Other hosts of the deployment that the pages ask, as origins: `https://objstore.<domain>`. */
  readonly connect?: readonly string[];
  /** Hosts of the deployment that pictures come from, as origins. */
  readonly images?: readonly string[];
  /** Hosts of the deployment that are shown in frames, as origins. */
  readonly frames?: readonly string[];
}

/**
 * Serves a built app: files with hashed names for ever, compressed ones where the client takes them, and the app's page for
 * every other address that a browser opens (its own routes). A new build needs no restart. Pages carry a strict content security policy: no script inside
 * the page, styles by nonce, no host but those named. Register it after the API; where nothing was built, pages answer 503.
 */
export async function addWebFiles(app: FastifyInstance, options: WebFilesOptions): Promise<void> {
  const { directory, programs = ["/api/"], pages } = options;
  const isPage = (path: string) => pages?.some((page) => path === page || path.startsWith(`${page}/`)) ?? true;
  await addWebAssets(app, options);
  app.get("/*", { schema: { hide: true } as object }, async (request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "/";
    if (programs.some((prefix) => path.startsWith(prefix)) || !isPage(path) || !wantsPage(request)) {
      const hint = pages === undefined ? "" : " /docs lists the paths of this service.";
      throw new Problem(404, `There is nothing at ${request.method} ${path}.${hint}`);
    }
    const template = await readWebPage(directory);
    if (template === undefined) {
      throw new Problem(503, "The web pages of this service are not built. Run npm run build:web.");
    }
    return sendPage(reply, template, options);
  });
}

/** The files of a build alone, for a service that makes its pages itself. */
export async function addWebAssets(app: FastifyInstance, options: WebFilesOptions): Promise<void> {
  const { directory } = options;
  await app.register(fastifyStatic, {
    // May come later than the service. A page that is still open asks for the files of the build before.
    root: [join(directory, "assets"), join(directory, "previous/assets")],
    suppressWarning: true,
    prefix: "/assets/",
    index: false,
    dotfiles: "ignore",
    preCompressed: true,
    decorateReply: false,
    cacheControl: false,
    setHeaders: (response) => {
      response.header("cache-control", "public, max-age=31536000, immutable");
      response.header("x-content-type-options", "nosniff");
      // A worker has the policy of its own script, not that of the page.
      response.header("content-security-policy", toAssetPolicy(options));
    },
  });
}

/** The page of the build that is there now: one that came while the service ran is served at once. */
export async function readWebPage(directory: string): Promise<string | undefined> {
  try {
    return await readFile(join(directory, "index.html"), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}

function wantsPage(request: FastifyRequest): boolean {
  const { accept } = request.headers;
  return accept === undefined || /text\/html|\*\/\*/.test(accept);
}

/** The page with a nonce of its own, which lets its scripts write style elements. */
function sendPage(reply: FastifyReply, template: string, options: WebFilesOptions): FastifyReply {
  const nonce = makeNonce();
  return reply
    .headers({
      "content-security-policy": toPolicy(nonce, options),
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
      "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
    })
    .type("text/html; charset=utf-8")
    .send(template.replaceAll("CSP_NONCE", nonce));
}

export const makeNonce = (): string => randomBytes(16).toString("base64url");

function toAssetPolicy({ connect = [] }: WebFilesOptions): string {
  return `default-src 'self'; connect-src ${["'self'", ...connect].join(" ")}; worker-src 'self' blob:; object-src 'none'; frame-ancestors 'none'`;
}

/** What a page of an app may do: no script inside it, styles by the nonce, no host but those named. */
export function toPolicy(
  nonce: string,
  { connect = [], images = [], frames = [] }: Omit<WebFilesOptions, "directory"> = {},
): string {
  const policy: Readonly<Record<string, readonly string[]>> = {
    "default-src": ["'self'"],
    "script-src": ["'self'"],
    "style-src": ["'self'", `'nonce-${nonce}'`],
    "img-src": ["'self'", "data:", "blob:", ...images],
    "connect-src": ["'self'", ...connect],
    "worker-src": ["'self'", "blob:"],
    "frame-src": frames.length === 0 ? ["'none'"] : frames,
    "object-src": ["'none'"],
    "base-uri": ["'none'"],
    "form-action": ["'self'"],
    "frame-ancestors": ["'none'"],
  };
  return Object.entries(policy)
    .map(([name, sources]) => `${name} ${sources.join(" ")}`)
    .join("; ");
}
