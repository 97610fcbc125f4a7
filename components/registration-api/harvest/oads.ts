import { setTimeout as sleep } from "node:timers/promises";

import { findProduct } from "@swath/products";

import { RegistrationError } from "../queue/errors.ts";
import type { TaskContext } from "../queue/run-task.ts";
import { readWithPatience } from "../registrars/read-tolerantly.ts";
import { type Tools, readRights } from "../registrars/registrar-context.ts";
import { registerScene } from "../registrars/scene.ts";
import type { Harvester } from "../store/harvesters.ts";
import { type ReadDocument, findReadDocument, keepReadDocuments } from "../store/read-documents.ts";
import type { Origin } from "../store/records.ts";
import { confirmUnchanged } from "./confirm-unchanged.ts";
import { PRODUCT_FOLDER } from "../model/product-folder.ts";
import { toSceneKey } from "./scene-keys.ts";

const MAX_FOLDERS = 100_000;
const MAX_DEPTH = 32;

/**
 * Registers the scenes of an online archive (OADS): folders of products that a web server lists in pages. Nothing outside of the given
 * folder is read. A scene whose describing file is unchanged since the last run is not read again. Goes on after the last scene of an earlier
 * attempt.
 */
export async function runOads(tools: Tools, context: TaskContext, harvester: Harvester): Promise<void> {
  const { task, signal } = context;
  const { config } = harvester;
  const rights = readRights(task.payload);
  const origin: Origin = { scope: task.scope, sequence: task.id, harvester: harvester.name };
  const { after = "" } = (task.position ?? {}) as { readonly after?: string };
  for await (const url of listScenes(tools, context, harvester)) {
    signal.throwIfAborted();
    if (url <= after) {
      continue;
    }
    const { isKept, read } = await lookAtScene(tools, context, harvester, { url, origin });
    if (!isKept) {
      try {
        await registerScene(tools, context, {
          url,
          type: "stac-item",
          rights,
          origin: { ...origin, source: url },
          ...(config.collection !== undefined && { parent: config.collection }),
        });
        await keepReadDocuments(tools.pool, harvester, read === undefined ? [] : [read]);
      } catch (error) {
        if (!(error instanceof RegistrationError) || error.isTransient) {
          throw error;
        }
        await context.report([{ record: url, reason: error.message }]);
      }
    }
    await context.save({ after: url });
    if (config.pauseMs > 0) {
      await sleep(config.pauseMs, undefined, { signal });
    }
  }
}

/** Whether a scene is in the catalogue as it is at its source; how it is there now, where the source says that. */
async function lookAtScene(
  tools: Tools,
  context: TaskContext,
  harvester: Harvester,
  { url, origin }: { readonly url: string; readonly origin: Origin },
): Promise<{ readonly isKept: boolean; readonly read?: ReadDocument }> {
  const { sources, pool } = tools;
  const address = sources.normalize(url);
  const known = await findReadDocument(pool, harvester, address);
  const head = await readWithPatience(sources, toDescribingFile(url), {
    rights: readRights(context.task.payload),
    signal: context.signal,
    headers: harvester.config.resource.headers,
    isHead: true,
    ...(known !== undefined && { ifChangedFrom: known }),
  }).catch((error: unknown) => {
    // Servers may refuse HEAD; what is wrong with the scene is said when it is read.
    if (error instanceof RegistrationError && !error.isTransient) {
      return undefined;
    }
    throw error;
  });
  if (known?.record !== undefined && head?.isUnchanged === true) {
    const gone = await confirmUnchanged(tools, context, origin, [{ ...known.record, document: address }]);
    return gone.length === 0 ? { isKept: true } : { isKept: false, read: known };
  }
  const { etag, lastModified } = head ?? {};
  return etag === undefined && lastModified === undefined
    ? { isKept: false }
    : {
        isKept: false,
        read: {
          address,
          document: address,
          ...(etag !== undefined && { etag }),
          ...(lastModified !== undefined && { lastModified }),
        },
      };
}

/** The file of a scene that changes when the scene does. */
function toDescribingFile(url: string): string {
  const product = findProduct(url);
  if (product === undefined) {
    return url;
  }
  return `${product.folder}/${product.describedBy}`;
}

/** Addresses of scenes below a folder, in the order of their addresses. */
async function* listScenes(
  { sources }: Tools,
  { task, signal }: TaskContext,
  { config }: Harvester,
): AsyncGenerator<string> {
  const { url, headers } = config.resource;
  const root = new URL(url.endsWith("/") ? url : `${url}/`).href;
  const seen = new Set<string>();
  const walk = async function* (folder: string, depth: number): AsyncGenerator<string> {
    if (seen.has(folder) || depth > MAX_DEPTH) {
      return;
    }
    seen.add(folder);
    if (seen.size > MAX_FOLDERS) {
      throw new RegistrationError(`${root} has more than ${MAX_FOLDERS} folders; harvest parts of it.`);
    }
    const page = await readWithPatience(sources, folder, {
      rights: readRights(task.payload),
      signal,
      accept: "text/html",
      headers,
    });
    if (config.pauseMs > 0) {
      await sleep(config.pauseMs, undefined, { signal });
    }
    for (const link of readLinks(page.bytes.toString("utf8"), folder, root)) {
      if (PRODUCT_FOLDER.test(link)) {
        yield link.replace(/\/$/, "");
      } else if (link.endsWith("/")) {
        yield* walk(link, depth + 1);
      } else if (!/\.json$/i.test(link) && toSceneKey(new URL(link).pathname.slice(1)) !== undefined) {
        yield link;
      }
    }
  };
  yield* walk(root, 0);
}

/** Links of a listing that lead into the folder. */
function readLinks(html: string, folder: string, root: string): readonly string[] {
  const links = [...html.matchAll(/<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)].flatMap(([, double, single]) => {
    const href = (double ?? single ?? "").replaceAll("&amp;", "&");
    return URL.canParse(href, folder) ? [new URL(href, folder)] : [];
  });
  const inside = links.filter(
    ({ href, search, hash }) =>
      search === "" && hash === "" && href.startsWith(folder) && href.startsWith(root) && href !== folder,
  );
  return [...new Set(inside.map(({ href }) => href))].toSorted();
}
