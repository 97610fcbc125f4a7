import type { Logger } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import { addWebFiles } from "@swath/service/web";
import type { FastifyInstance } from "fastify";
import { LRUCache } from "lru-cache";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";

import type { Target } from "../store/servers.ts";
import { createLiteSite } from "./lite-site.ts";

const STAC_BROWSER = join(import.meta.dirname, "../web/dist");
/** Lists of hosts that are kept ready; a profile has one. */
const MAX_KEPT = 50;

type SiteTarget = Extract<Target, { readonly site: string }>;

/** Sites that run in the browser alone, as files that the proxy has. */
export interface Sites {
  readonly serve: (target: SiteTarget, request: IncomingMessage, response: ServerResponse) => void;
  readonly close: () => Promise<void>;
}

export async function createSites(logger: Logger): Promise<Sites> {
  const lite = await createLiteSite(logger);
  await lite.ready();
  const browsers = new LRUCache<string, Promise<FastifyInstance>>({
    max: MAX_KEPT,
    dispose: (app) => void app.then((made) => made.close()),
  });
  const browserFor = (hosts: readonly string[]): Promise<FastifyInstance> => {
    const key = hosts.join(" ");
    const kept = browsers.get(key);
    if (kept !== undefined) {
      return kept;
    }
    const made = createStacBrowser(logger, hosts);
    browsers.set(key, made);
    return made;
  };
  return {
    serve: ({ site, hosts = [] }, request, response) => {
      if (site !== "stac-browser") {
        lite.routing(request, response);
        return;
      }
      browserFor(hosts).then(
        (app) => app.routing(request, response),
        (error: unknown) => {
          logger.error({ err: error }, "the STAC browser cannot be served");
          response.writeHead(503).end();
        },
      );
    },
    close: async () => {
      await Promise.all([lite, ...(await Promise.all(browsers.values()))].map((app) => app.close()));
    },
  };
}

/** The STAC browser. Its pages may ask the hosts of its profile besides their own origin, and nothing else. */
async function createStacBrowser(logger: Logger, hosts: readonly string[]): Promise<FastifyInstance> {
  const app = createApp(logger, { keepsSlashes: true });
  app.get("/site.json", (_request, reply) => reply.header("cache-control", "no-cache").send({ hosts }));
  await addWebFiles(app, {
    directory: STAC_BROWSER,
    programs: ["/.swath/"],
    connect: hosts.map((host) => `https://${host}`),
  });
  await app.ready();
  return app;
}
