import { RegistrationError } from "../queue/errors.ts";
import type { TaskContext } from "../queue/run-task.ts";
import { readWithPatience } from "../registrars/read-tolerantly.ts";
import { type Tools, readRights } from "../registrars/registrar-context.ts";
import { registerScene } from "../registrars/scene.ts";
import type { Harvester } from "../store/harvesters.ts";
import type { Origin } from "../store/records.ts";
import { toSceneKey } from "./scene-keys.ts";

const MAX_FOLDERS = 100_000;
const MAX_DEPTH = 32;
const PRODUCT_FOLDER = /\.(?:SAFE|SEN3)\/?$/i;

/**
 * Registers the scenes of an online archive (OADS): folders of products that a web server lists in pages. Nothing outside of the given
 * folder is read. Goes on after the last scene of an earlier attempt.
 */
export async function runOads(tools: Tools, context: TaskContext, harvester: Harvester): Promise<void> {
  const { task, signal } = context;
  const { config } = harvester;
  const rights = readRights(task.payload);
  const origin: Origin = { scope: task.scope, sequence: task.id, harvester: harvester.name };
  const { after = "" } = (task.position ?? {}) as { readonly after?: string };
  for await (const url of listScenes(tools, context, config.resource)) {
    signal.throwIfAborted();
    if (url <= after) {
      continue;
    }
    try {
      await registerScene(tools, context, {
        url,
        type: "stac-item",
        rights,
        origin: { ...origin, source: url },
        ...(config.collection !== undefined && { parent: config.collection }),
      });
    } catch (error) {
      if (!(error instanceof RegistrationError) || error.isTransient) {
        throw error;
      }
      await context.report([{ record: url, reason: error.message }]);
    }
    await context.save({ after: url });
  }
}

/** Addresses of scenes below a folder, in the order of their addresses. */
async function* listScenes(
  { sources }: Tools,
  { task, signal }: TaskContext,
  { url, headers }: Harvester["config"]["resource"],
): AsyncGenerator<string> {
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
