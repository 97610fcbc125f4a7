import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";

import { type Plugin, build } from "vite";

import { compressFile } from "./compress.ts";
import { type BuildRecord, fingerprintSources, readBuildRecord, webFolder } from "./web-sources.ts";

/**
 * Builds the app of a component into `components/<c>/web/dist`. A service that serves the build before goes on doing so: its
 * files stay for one more build, and pages that are open find the parts they have not loaded yet.
 */
export async function buildWeb(root: string, component: string): Promise<void> {
  const folder = webFolder(root, component);
  const dist = join(folder, "dist");
  await mkdir(dist, { recursive: true });
  const made = await mkdtemp(join(dist, ".building-"));
  try {
    const before = fingerprintSources(root, component, []);
    const modules = new Set<string>();
    await build({
      root: folder,
      configFile: join(folder, "vite.config.ts"),
      configLoader: "native",
      logLevel: "warn",
      build: { outDir: made, emptyOutDir: false },
      plugins: [recordModules(modules)],
    });
    for (const file of await listFiles(made)) {
      await compressFile(join(made, file));
    }
    const previous = readBuildRecord(root, component);
    const files = await publish(made, dist);
    await prune(dist, new Set([...files, ...(previous?.files ?? []), "build.json"]));
    const imported = toImported(modules, root, component);
    // What was edited meanwhile may be in the build or not: then it is stale from the beginning.
    const isSettled = before === fingerprintSources(root, component, []);
    const sources = isSettled ? fingerprintSources(root, component, imported) : "";
    const record: BuildRecord = { sources, imported, files };
    await writeFile(join(made, "build.json"), JSON.stringify(record));
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

/** What the app took from elsewhere in the repository. */
function toImported(modules: ReadonlySet<string>, root: string, component: string): readonly string[] {
  const own = [join("components", component, "web") + sep, join("libs", "ui") + sep];
  return [...modules]
    .filter((id) => id.startsWith(root + sep) && !id.includes(`${sep}node_modules${sep}`))
    .map((id) => relative(root, id))
    .filter((file) => !own.some((folder) => file.startsWith(folder)))
    .sort();
}

/** Moves a finished build to where it is served; the page that refers to all the rest comes last. */
async function publish(made: string, dist: string): Promise<readonly string[]> {
  const files = (await listFiles(made)).toSorted((a, b) => Number(a === "index.html") - Number(b === "index.html"));
  for (const file of files) {
    await mkdir(dirname(join(dist, file)), { recursive: true });
    await rename(join(made, file), join(dist, file));
  }
  return files;
}

async function prune(dist: string, kept: ReadonlySet<string>): Promise<void> {
  for (const file of await listFiles(dist)) {
    if (!kept.has(file) && !file.startsWith(".building-")) {
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
