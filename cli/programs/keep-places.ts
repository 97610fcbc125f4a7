import { dirname, isAbsolute, join, relative } from "node:path";
import { pathToFileURL } from "node:url";

import type { Plugin } from "rolldown";

import { repositoryRoot } from "../targets/embedded/launch/code-version.ts";

/** Packages with machine code, which the running program loads from where it was installed. */
const NATIVE = /^(@node-rs\/|sharp$|@img\/)|\.node$/;
/** A module that runs in a thread or a process of its own. */
const OWN_THREAD = /new URL\("([^"]+\.ts)", import\.meta\.url\)/g;
const PLACE = /import\.meta\.(url|dirname|filename)\b/g;
const RESOLVE = /import\.meta\.resolve\(/g;
const SCRIPT_PLACE = /\b__(dirname|filename)\b/;
const OWN_SCRIPT_PLACE = /\b(const|let|var) __(dirname|filename)\b/;

/**
 * A module goes on finding what lies beside its source: its folder and address are written into the bundle as they are in the
 * checkout. Modules for threads become bundles, too.
 */
export function keepPlaces(): Plugin {
  return {
    name: "keep-places",
    resolveId: {
      filter: { id: NATIVE },
      handler: async function resolveNative(id, importer, options) {
        const found = await this.resolve(id, importer, { ...options, skipSelf: true });
        // What only another system has stays a name that nothing finds.
        const file = found !== null && isAbsolute(found.id) ? pathToFileURL(found.id).href : id;
        return { id: file, external: true };
      },
    },
    transform: {
      filter: { id: /\.[cm]?[jt]s$/, code: /import\.meta|__dirname|__filename/ },
      handler(code, id) {
        const bundle = (path: string) => {
          const module = join(dirname(id), path);
          return this.emitFile({ type: "chunk", id: module, name: nameBundle(module), preserveSignature: "strict" });
        };
        return { code: writePlaces(code, id, bundle), map: null };
      },
    },
  };
}

/**
 * `components/ades/runner/main.ts` is `components.ades.runner`: what is seen of a program in a list of processes. A module outside
 * the checkout, as where its `node_modules` is a link to another one's, has a name without the steps upwards.
 */
export function nameBundle(module: string): string {
  const path = (isAbsolute(module) ? relative(repositoryRoot, module) : module).replace(/^(\.\.\/)+/, "");
  return path.replace(/(\/main)?\.ts$/, "").replaceAll("/", ".");
}

/** @param bundle makes a bundle of a module beside this one; gives its reference */
function writePlaces(code: string, file: string, bundle: (path: string) => string): string {
  const address = JSON.stringify(pathToFileURL(file).href);
  const folder = JSON.stringify(dirname(file));
  const name = JSON.stringify(file);
  const places: Readonly<Record<string, string>> = { url: address, dirname: folder, filename: name };
  const isScript = SCRIPT_PLACE.test(code) && !OWN_SCRIPT_PLACE.test(code);
  // On the first line: positions in the lines that follow stay as they are.
  return (isScript ? `var __dirname = ${folder}, __filename = ${name};` : "").concat(
    code
      .replace(OWN_THREAD, (_, path: string) => `new URL(import.meta.ROLLUP_FILE_URL_${bundle(path)})`)
      .replace(PLACE, (_, place: string) => places[place] ?? "")
      .replace(RESOLVE, `((name) => ${resolveFrom(address)})(`),
  );
}

/** `import.meta.resolve` knows no other place than the bundle's own. */
const resolveFrom = (address: string): string =>
  `process.getBuiltinModule("node:url").pathToFileURL(process.getBuiltinModule("node:module").createRequire(${address}).resolve(name)).href`;
