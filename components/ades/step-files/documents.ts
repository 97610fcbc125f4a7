import { posix } from "node:path";

/** An entry of a directory tree. Its path is relative to the tree's root; empty for the root itself. */
export type TreeEntry =
  | { readonly type: "directory"; readonly path: string; readonly mode: number }
  | {
      readonly type: "file";
      readonly path: string;
      readonly mode: number;
      readonly size: number;
      /** In hexadecimal: the name of its blob. */
      readonly sha256: string;
    }
  | { readonly type: "link"; readonly path: string; readonly target: string };

export type FileEntry = Extract<TreeEntry, { readonly type: "file" }>;

/** One directory or file of a step. */
export interface FileTree {
  /** Where it is in the step's volumes: `outdir`, `tmpdir`, `inputs/0`. */
  readonly root: string;
  /** A directory comes before what is in it. */
  readonly entries: readonly TreeEntry[];
}

/** What a step starts with (`inputs.json`), and what it leaves (`outputs.json`, written last: without it a step has not ended). */
export interface StepDocument {
  readonly trees: readonly FileTree[];
}

export const INPUTS = "inputs";
export const OUTPUTS = "outputs";

const SHA256 = /^[0-9a-f]{64}$/;
const ROOT = /^(outdir|tmpdir|inputs\/\d+)$/;

/**
 * A document as it was stored: nothing in it leads out of a tree's root, and no entry lies below a link or a file.
 * @throws {Error} when it is none
 */
export function parseStepDocument(text: string): StepDocument {
  const { trees } = JSON.parse(text) as Partial<StepDocument>;
  if (!Array.isArray(trees)) {
    throw new Error("the document of a step has no list of trees");
  }
  (trees as readonly FileTree[]).forEach(checkTree);
  return { trees };
}

function checkTree({ root, entries }: FileTree): void {
  if (!ROOT.test(root) || !Array.isArray(entries)) {
    throw new Error(`a step has no tree ${JSON.stringify(root)}`);
  }
  const directories = new Set<string>();
  const seen = new Set<string>();
  for (const entry of entries as readonly TreeEntry[]) {
    const { path } = entry;
    const isRoot = path === "";
    const isInside = isRoot
      ? seen.size === 0
      : posix.normalize(path) === path && !path.startsWith("/") && !path.endsWith("/") && !path.includes("\0");
    const parent = posix.dirname(path) === "." ? "" : posix.dirname(path);
    if (!isInside || path === "." || path.startsWith("..") || seen.has(path) || (!isRoot && !directories.has(parent))) {
      throw new Error(`${JSON.stringify(path)} is no path in the tree of a step`);
    }
    seen.add(path);
    if (entry.type === "directory") {
      directories.add(path);
    }
    checkFields(entry);
  }
}

function checkFields(entry: TreeEntry): void {
  const isValid =
    entry.type === "link"
      ? typeof entry.target === "string" && entry.target !== "" && !entry.target.includes("\0")
      : entry.type === "directory"
        ? isMode(entry.mode)
        : isMode(entry.mode) && Number.isSafeInteger(entry.size) && entry.size >= 0 && isSha256(entry.sha256);
  if (!isValid) {
    throw new Error(`the entry ${JSON.stringify(entry.path)} of a step's tree is incomplete`);
  }
}

const isMode = (mode: unknown): boolean => Number.isInteger(mode) && (mode as number) >= 0 && (mode as number) <= 0o777;

export const isSha256 = (text: string): boolean => SHA256.test(text);

/** Files of all trees. */
export const filesOf = ({ trees }: StepDocument): readonly FileEntry[] =>
  trees.flatMap(({ entries }) => entries.filter((entry) => entry.type === "file"));

export const sizeOf = (document: StepDocument): number => filesOf(document).reduce((sum, { size }) => sum + size, 0);
