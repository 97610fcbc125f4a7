import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** Where a container finds what the hub brings. */
export const SEEN = "/run/swath";

const ROOT = join(import.meta.dirname, "../..");
/** The client for Python and the examples, on this machine. */
export const EXAMPLES = {
  clients: join(ROOT, "clients/python"),
  javascript: join(ROOT, "clients/javascript"),
  notebooks: join(ROOT, "notebooks"),
};

/** Libraries that Node.js of this machine needs, whatever the image is made of. */
const LIBRARIES = ["/usr", "/lib", "/lib64"];

/**
 * Volumes of the program beside a server: it runs in the server's own image, of which nothing is known, with this machine's Node.js and
 * its libraries over the image's.
 */
export function showHost(): readonly string[] {
  const libraries = LIBRARIES.filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  return [
    libraries.map((path) => `${realpathSync(path)}:${path}:ro`),
    `${realpathSync(process.execPath)}:${SEEN}/node:ro`,
    ["inside.cjs", "sync.mjs"].map((name) => `${join(ROOT, "process", name)}:${SEEN}/${name}:ro`),
  ]
    .flat()
    .flatMap((volume) => ["--volume", volume]);
}
