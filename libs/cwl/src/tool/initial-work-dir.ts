import { existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { CwlError } from "../errors.ts";
import type { Evaluator } from "../expressions/evaluate.ts";
import { sortedJson } from "../expressions/evaluate.ts";
import type { ExpressionContext } from "../expressions/parameter-reference.ts";
import { copyWritable } from "../files/copy.ts";
import type { NamedBy } from "../files/gate.ts";
import { joinInside } from "../files/inside.ts";
import { complete, isLiteralLocation, localPath } from "../inputs/files.ts";
import { authorOf } from "../inputs/prepare.ts";
import { resolvePath } from "../load/uri.ts";
import type { Requirement } from "../model/process.ts";
import type { FileOrDirectory, Value } from "../model/values.ts";
import { isFileOrDirectory, isObject, mapFiles } from "../model/values.ts";
import type { InputStager } from "./stage-inputs.ts";
import type { Workspace } from "./workspace.ts";

interface Entry {
  readonly item: FileOrDirectory;
  /** Path in the working directory, or absolute. */
  readonly name: string;
  readonly writable: boolean;
  readonly by: NamedBy;
}

export interface WorkDirOptions {
  readonly evaluator: Evaluator;
  readonly context: ExpressionContext;
  readonly workspace: Workspace;
  readonly stager: InputStager;
  /** Whether absolute names are allowed: only where the tool demands a container. */
  readonly absoluteNames: boolean;
  /** Whether writable files are the originals themselves. */
  readonly inPlace: boolean;
  /** Checks that something may be read, and fetches what is not on this machine. */
  readonly fetch: (item: FileOrDirectory, by: NamedBy) => Promise<FileOrDirectory>;
}

/** Puts into the working directory what InitialWorkDirRequirement lists. */
export async function prepareWorkDir(requirement: Requirement, options: WorkDirOptions): Promise<void> {
  const entries: Entry[] = [];
  const listing = requirement.fields["listing"];
  const author = authorOf(requirement.location);
  if (typeof listing === "string") {
    addValue(await options.evaluator.evaluate(listing, options.context), entries, "code");
  } else {
    for (const item of Array.isArray(listing) ? (listing as unknown[]) : [listing]) {
      await addItem(item, entries, author, options);
    }
  }
  for (const entry of entries) {
    const item = complete(await options.fetch(entry.item, entry.by), { size: true });
    location({ ...entry, item }, options);
  }
}

async function addItem(item: unknown, entries: Entry[], author: NamedBy, options: WorkDirOptions): Promise<void> {
  if (typeof item === "string") {
    addValue(await options.evaluator.evaluate(item, options.context), entries, "code");
  } else if (Array.isArray(item)) {
    for (const inner of item as unknown[]) {
      await addItem(inner, entries, author, options);
    }
  } else if (isFileOrDirectory(item)) {
    addValue(item, entries, author);
  } else if (isObject(item) && "entry" in item) {
    await addDirent(item, entries, author, options);
  } else if (item !== null && item !== undefined) {
    throw new CwlError(
      "invalid-document",
      "an entry of InitialWorkDirRequirement is no expression, File, Directory or Dirent",
    );
  }
}

/** Adds what an expression gave: null, a File, a Directory, a Dirent, or a list of those. */
function addValue(value: Value, entries: Entry[], by: NamedBy): void {
  if (value === null) {
    return;
  }
  if (Array.isArray(value)) {
    for (const item of value as readonly Value[]) {
      addValue(item, entries, by);
    }
  } else if (isFileOrDirectory(value)) {
    const item = locate(value);
    entries.push({ item, name: nameOf(item), writable: value["writable"] === true, by });
  } else if (isObject(value) && "entry" in value) {
    const name = value["entryname"];
    addContent(
      (value["entry"] ?? null) as Value,
      typeof name === "string" ? name : undefined,
      value["writable"] === true,
      by,
      entries,
    );
  } else {
    throw new CwlError(
      "expression",
      `InitialWorkDirRequirement gave ${sortedJson(value)}; expected File, Directory or Dirent`,
    );
  }
}

async function addDirent(
  dirent: { readonly [key: string]: unknown },
  entries: Entry[],
  author: NamedBy,
  options: WorkDirOptions,
): Promise<void> {
  const { evaluator, context } = options;
  const name =
    typeof dirent["entryname"] === "string"
      ? await evaluator.evaluateText(dirent["entryname"], context, "entryname")
      : undefined;
  const raw = dirent["entry"];
  const value = typeof raw === "string" ? await evaluator.evaluate(raw, context, { keepSpace: true }) : (raw as Value);
  addContent(value, name, dirent["writable"] === true, typeof raw === "string" ? "code" : author, entries);
}

function addContent(value: Value, name: string | undefined, writable: boolean, by: NamedBy, entries: Entry[]): void {
  if (value === null) {
    return;
  }
  if (isFileOrDirectory(value)) {
    entries.push({ item: locate(value), name: name ?? nameOf(value), writable, by });
  } else if (Array.isArray(value) && value.length > 0 && (value as readonly Value[]).every(isFileOrDirectory)) {
    for (const item of value as readonly FileOrDirectory[]) {
      entries.push({ item, name: nameOf(item), writable, by });
    }
  } else {
    if (name === undefined) {
      throw new CwlError("invalid-document", "an entry of InitialWorkDirRequirement with text needs an entryname");
    }
    const contents = typeof value === "string" ? value : sortedJson(value);
    entries.push({
      item: { class: "File", contents, basename: name.slice(name.lastIndexOf("/") + 1) },
      name,
      writable,
      by,
    });
  }
}

/** Gives a File that names only a path its location. Locations that a document writes were made absolute when it was read. */
function locate(item: FileOrDirectory): FileOrDirectory {
  return mapFiles(item, (inner) =>
    inner.location === undefined && typeof inner.path === "string"
      ? { ...inner, location: resolvePath(inner.path, "file:///") }
      : inner,
  ) as FileOrDirectory;
}

function nameOf(item: FileOrDirectory): string {
  const path = localPath(item) ?? item.path;
  return (
    item.basename ??
    (path === undefined ? (complete(item, { size: false }).basename ?? "") : path.slice(path.lastIndexOf("/") + 1))
  );
}

function location(entry: Entry, options: WorkDirOptions): void {
  const { workspace, stager } = options;
  const { item, name } = entry;
  if (isAbsolute(name) && !options.absoluteNames) {
    throw new CwlError(
      "unsafe",
      `entryname ${JSON.stringify(name)} is absolute; that needs a DockerRequirement among the requirements`,
    );
  }
  const seen = joinInside(isAbsolute(name) ? "/" : workspace.outdir.seen, name);
  if (seen === undefined || seen === workspace.outdir.seen) {
    throw new CwlError("unsafe", `entryname ${JSON.stringify(name)} leads out of the working directory`);
  }
  const host =
    isAbsolute(name) && !workspace.sharesFileSystem && workspace.toHost(seen) === undefined
      ? undefined
      : workspace.toHost(seen);
  placeItem(item, seen, host, entry.writable, options);
  stager.placed.set(item.location ?? "", seen);
  if (item.class === "File") {
    for (const inner of item.secondaryFiles ?? []) {
      const beside = joinInside(dirname(seen), inner.basename ?? "");
      if (beside !== undefined) {
        placeItem(
          inner,
          beside,
          host === undefined ? undefined : join(dirname(host), inner.basename ?? ""),
          entry.writable,
          options,
        );
        stager.placed.set(inner.location ?? "", beside);
      }
    }
  }
}

/** Puts one thing at a place; `host` is undefined when the place exists only inside the container. */
function placeItem(
  item: FileOrDirectory,
  seen: string,
  host: string | undefined,
  writable: boolean,
  options: WorkDirOptions,
): void {
  const { workspace } = options;
  const source = localPath(item);
  if (source !== undefined) {
    workspace.sources.add(source);
  }
  const original = source !== undefined && (!writable || options.inPlace);
  if (host === undefined) {
    placeInContainer(item, seen, source, writable, original, workspace);
    return;
  }
  guardParents(host, workspace);
  mkdirSync(dirname(host), { recursive: true });
  if (existsOrLink(host) && !(item.class === "Directory" && source === undefined)) {
    rmSync(host, { recursive: true, force: true });
  }
  if (source === undefined && !isLiteralLocation(item.location)) {
    throw new CwlError("reference", `${item.location} was not fetched`);
  }
  if (item.class === "Directory" && source === undefined) {
    mkdirSync(host, { recursive: true });
    for (const inner of item.listing ?? []) {
      for (const part of inner.class === "File" ? [inner, ...(inner.secondaryFiles ?? [])] : [inner]) {
        placeItem(part, `${seen}/${part.basename}`, join(host, part.basename ?? ""), writable, options);
      }
    }
  } else if (item.class === "File" && source === undefined) {
    writeFileSync(host, item.contents ?? "");
  } else if (original && source !== undefined) {
    if (workspace.sharesFileSystem) {
      symlinkSync(source, host);
    } else {
      // The mount covers this; it is there so that the engine of the container need not make it.
      makePlaceholder(item, host);
      workspace.mounts.push({ source, target: seen, writable });
    }
  } else if (source !== undefined) {
    copyWritable(source, host);
  }
}

function placeInContainer(
  item: FileOrDirectory,
  seen: string,
  source: string | undefined,
  writable: boolean,
  original: boolean,
  workspace: Workspace,
): void {
  if (original && source !== undefined) {
    workspace.mounts.push({ source, target: seen, writable });
    return;
  }
  const copy = join(workspace.newStage(true).host, item.basename ?? "entry");
  if (source !== undefined) {
    copyWritable(source, copy);
  } else if (item.class === "File") {
    writeFileSync(copy, item.contents ?? "");
  } else {
    mkdirSync(copy);
  }
  workspace.mounts.push({ source: copy, target: seen, writable });
}

/** Refuses to write through a link that an earlier entry made: it would end up in somebody's input. */
function guardParents(host: string, workspace: Workspace): void {
  for (let parent = dirname(host); parent.length > workspace.outdir.host.length; parent = dirname(parent)) {
    if (lstatSync(parent, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      throw new CwlError("unsafe", `${host} would be written inside an input directory; make that entry writable`);
    }
  }
}

function existsOrLink(path: string): boolean {
  return existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function makePlaceholder(item: FileOrDirectory, host: string): void {
  if (item.class === "Directory") {
    mkdirSync(host, { recursive: true });
  } else {
    writeFileSync(host, "");
  }
}
