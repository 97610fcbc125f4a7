import { join } from "node:path";

import { addWebAssets, makeNonce, readWebPage, toPolicy } from "@swath/service/web";
import type { FastifyInstance } from "fastify";

const DIRECTORY = join(import.meta.dirname, "../web/dist");

/** Files of the app that the console's pages turn into where there is script. */
export const addConsoleApp = (app: FastifyInstance): Promise<void> => addWebAssets(app, { directory: DIRECTORY });

/** What a page needs to become the app. */
export interface ConsoleApp {
  /** Elements for the head, as the build wrote them. */
  readonly head: string;
  readonly policy: string;
}

/** The build that is there now; none: pages stay as the service makes them. */
export async function findConsoleApp(): Promise<ConsoleApp | undefined> {
  const page = await readWebPage(DIRECTORY);
  if (page === undefined) {
    return undefined;
  }
  const nonce = makeNonce();
  const elements = page.match(/<meta property="csp-nonce"[^>]*>|<link [^>]*>|<script [^>]*><\/script>/g) ?? [];
  const head = elements
    .filter((element) => !/rel="(?:icon|[^"]*icon)"/.test(element))
    // The app asks for its own styles: pages without script have theirs.
    .map((element) => element.replace('rel="stylesheet"', 'rel="preload" as="style" data-app-style'))
    .join("\n")
    .replaceAll("CSP_NONCE", nonce);
  return { head, policy: toPolicy(nonce) };
}
