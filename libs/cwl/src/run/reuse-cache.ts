import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JobSpec } from "../executors/executor.ts";
import { checksumOf } from "../files/checksum.ts";
import { removeTree } from "../files/copy.ts";
import type { FileGate } from "../files/gate.ts";
import { localPath } from "../inputs/files.ts";
import { definitionText } from "../model/definition-text.ts";
import type { CommandLineTool } from "../model/process.ts";
import type { FileOrDirectory, ValueObject } from "../model/values.ts";
import { isFileOrDirectory, isObject, mapFiles, toJson } from "../model/values.ts";
import { loadListing } from "../inputs/files.ts";
import { publishOutputs } from "./publish.ts";
import type { Requirements } from "./requirements.ts";

/** Results of earlier jobs by what went into them: the tool, its requirements, and the content of its inputs. */
export class ReuseCache {
  private readonly directory: string;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true });
    this.directory = directory;
  }

  async key(tool: CommandLineTool, requirements: Requirements, inputs: ValueObject, spec: JobSpec): Promise<string> {
    const parts = {
      tool: definitionText({ ...tool, label: undefined, doc: undefined }),
      requirements: requirements.all().map((item) => item.fields),
      inputs: await describeContent(inputs),
      image: spec.container?.image,
      environment: Object.keys(spec.environment).sort(),
    };
    return createHash("sha256").update(toJson(parts)).digest("hex");
  }

  async find(key: string): Promise<ValueObject | undefined> {
    const file = join(this.directory, key, "outputs.json");
    await Promise.resolve();
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as ValueObject) : undefined;
  }

  /** Keeps a copy of the outputs; whoever is first stays. */
  async save(key: string, outputs: ValueObject, gate: FileGate): Promise<void> {
    const target = join(this.directory, key);
    if (existsSync(target)) {
      return;
    }
    const draft = join(this.directory, `.${randomUUID()}`);
    try {
      // A directory of its own for the work directory: files are copied, never shared with the run.
      const kept = await publishOutputs(outputs, {
        outDir: join(draft, "files"),
        workDir: join(draft, "none"),
        gate,
      });
      const relocated = mapFiles(kept, (item) => relocate(item, draft, target));
      writeFileSync(join(draft, "outputs.json"), toJson(relocated));
      renameSync(draft, target);
    } catch (error) {
      removeTree(draft);
      if (!existsSync(target)) {
        throw error;
      }
    }
  }
}

function relocate(item: FileOrDirectory, from: string, to: string): FileOrDirectory {
  const inner = (items: readonly FileOrDirectory[]): FileOrDirectory[] =>
    items.map((entry) => relocate(entry, from, to));
  const location = item.location?.replace(encodeURI(from), encodeURI(to));
  return item.class === "File"
    ? {
        ...item,
        location,
        ...(item.secondaryFiles === undefined ? {} : { secondaryFiles: inner(item.secondaryFiles) }),
      }
    : { ...item, location, ...(item.listing === undefined ? {} : { listing: inner(item.listing) }) };
}

/** The same value with every file replaced by its name and checksum, so that it says nothing of places. */
async function describeContent(value: unknown): Promise<unknown> {
  if (isFileOrDirectory(value)) {
    const path = localPath(value);
    if (value.class === "Directory") {
      const full = path === undefined ? value : loadListing(value, "deep_listing");
      return { class: "Directory", basename: value.basename, listing: await describeContent(full.listing ?? []) };
    }
    return {
      class: "File",
      basename: value.basename,
      format: value.format,
      content: path === undefined ? value.contents : await checksumOf(path),
      secondaryFiles: await describeContent(value.secondaryFiles ?? []),
    };
  }
  if (Array.isArray(value)) {
    return await Promise.all((value as unknown[]).map(describeContent));
  }
  if (isObject(value)) {
    const entries = await Promise.all(
      Object.entries(value).map(async ([key, item]) => [key, await describeContent(item)] as const),
    );
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  return value;
}
