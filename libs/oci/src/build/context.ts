import { glob, lstat, readFile, readdir, readlink, realpath } from "node:fs/promises";
import { join, matchesGlob, posix, relative, sep } from "node:path";

import { type CopyStep, ContainerfileError } from "./containerfile.ts";

/** A file, folder or link that goes into a layer. */
export interface LayerEntry {
  /** In the image, without a slash at its beginning. */
  readonly name: string;
  readonly type: "file" | "directory" | "symlink";
  /** On this machine. */
  readonly path: string;
  readonly mode: number;
  readonly size: number;
  readonly mtime: Date;
  readonly linkname?: string;
}

/** The folder that an image is built of. */
export interface BuildContext {
  /** What a COPY takes, in a stable order. @throws {ContainerfileError} for what is not there, or outside of the folder */
  readonly select: (step: CopyStep, workingDirectory: string) => Promise<readonly LayerEntry[]>;
}

const IGNORE_FILES = [".containerignore", ".dockerignore"];
const MAX_ENTRIES = 200_000;

export async function openContext(folder: string): Promise<BuildContext> {
  const root = await realpath(folder);
  const isIgnored = await readIgnored(root);
  return {
    select: async (step, workingDirectory) => {
      const found: LayerEntry[] = [];
      const add = (entry: LayerEntry) => {
        found.push(entry);
        if (found.length > MAX_ENTRIES) {
          throw new ContainerfileError(step.line, `more than ${MAX_ENTRIES} files; .containerignore leaves some out`);
        }
      };
      const target = posix.resolve("/", workingDirectory, step.target);
      const sources = await findSources(root, step, isIgnored);
      const isFolder = step.target.endsWith("/") || /(^|\/)\.$/.test(step.target) || sources.length > 1;
      for (const source of sources) {
        const path = join(root, source);
        const info = await lstat(path);
        if (info.isDirectory()) {
          await addFolder({ path, root, name: target, isIgnored, add });
        } else {
          const name = isFolder ? posix.join(target, posix.basename(source)) : target;
          add(await toEntry(path, name));
        }
      }
      return step.mode === undefined
        ? found
        : found.map((entry) => (entry.type === "symlink" ? entry : { ...entry, mode: step.mode ?? entry.mode }));
    },
  };
}

/** Paths below the folder that a COPY names, by themselves or by wildcards. */
async function findSources(
  root: string,
  { sources, line }: CopyStep,
  isIgnored: (path: string) => boolean,
): Promise<readonly string[]> {
  const all: string[] = [];
  for (const source of sources) {
    const requested = posix.normalize(source).replace(/^\/+/, "").replace(/\/$/, "") || ".";
    if (requested === ".." || requested.startsWith("../")) {
      throw new ContainerfileError(line, `${source} is outside of the folder that is built`);
    }
    const found = /[*?[]/.test(requested) ? await expandPattern(root, requested) : [requested];
    const kept = found.filter((path) => path === "." || !isIgnored(path));
    for (const path of kept) {
      const real = await realpath(join(root, path)).catch(() => undefined);
      if (real === undefined) {
        throw new ContainerfileError(line, `there is no ${path} in the folder that is built`);
      }
      if (real !== root && !real.startsWith(`${root}${sep}`)) {
        throw new ContainerfileError(line, `${path} leads out of the folder that is built`);
      }
    }
    if (kept.length === 0) {
      throw new ContainerfileError(line, `there is no ${source} in the folder that is built, or it is ignored`);
    }
    all.push(...kept);
  }
  return all;
}

async function expandPattern(root: string, pattern: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const path of glob(pattern, { cwd: root })) {
    found.push(path);
  }
  return found.toSorted();
}

interface FolderWalk {
  readonly path: string;
  readonly root: string;
  readonly name: string;
  readonly isIgnored: (path: string) => boolean;
  readonly add: (entry: LayerEntry) => void;
}

/** What is in a folder; links stay links. */
async function addFolder(walk: FolderWalk): Promise<void> {
  const { path, root, name, isIgnored, add } = walk;
  for (const each of (await readdir(path)).toSorted()) {
    const file = join(path, each);
    if (isIgnored(relative(root, file).split(sep).join("/"))) {
      continue;
    }
    const info = await lstat(file);
    const inside = posix.join(name, each);
    if (info.isDirectory()) {
      add(await toEntry(file, inside));
      await addFolder({ ...walk, path: file, name: inside });
    } else if (info.isFile() || info.isSymbolicLink()) {
      add(await toEntry(file, inside));
    }
  }
}

async function toEntry(path: string, name: string): Promise<LayerEntry> {
  const { mode, size, mtime, isLink, isFolder } = await lstat(path).then((info) => ({
    mode: info.mode & 0o777,
    size: info.size,
    mtime: new Date(Math.floor(info.mtimeMs / 1000) * 1000),
    isLink: info.isSymbolicLink(),
    isFolder: info.isDirectory(),
  }));
  const entry = { name: name.replace(/^\/+/, ""), path, mode, mtime };
  return isLink
    ? { ...entry, type: "symlink", size: 0, linkname: await readlink(path) }
    : { ...entry, type: isFolder ? "directory" : "file", size: isFolder ? 0 : size };
}

/** Patterns of the ignore file: later ones count, `!` takes back. A folder that is ignored is so with all that is in it. */
async function readIgnored(root: string): Promise<(path: string) => boolean> {
  for (const name of IGNORE_FILES) {
    const text = await readFile(join(root, name), "utf8").catch(() => undefined);
    if (text === undefined) {
      continue;
    }
    const rules = text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => ({
        isKept: line.startsWith("!"),
        pattern: posix.normalize(line.replace(/^!/, "")).replace(/^\/+|\/$/g, ""),
      }));
    return (path) => {
      const parts = path.split("/");
      const parents = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
      return rules.reduce(
        (ignored, { isKept, pattern }) => (parents.some((each) => matchesGlob(each, pattern)) ? !isKept : ignored),
        false,
      );
    };
  }
  return () => false;
}
