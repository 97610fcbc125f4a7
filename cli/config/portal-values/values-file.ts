import { distance } from "fastest-levenshtein";
import { type Document, LineCounter, isMap, isNode, isScalar, isSeq, parseDocument } from "yaml";

import type { Mistake } from "../report.ts";

/** One key of a mapping. */
export interface Entry<K extends string = string> {
  readonly key: K;
  readonly node: unknown;
  readonly path: readonly string[];
}

/** A YAML file that is read piece by piece, gathering what is wrong in it, each with its line. */
export interface ValuesFile {
  readonly document: Document;
  /** In the order of the file. */
  readonly listMistakes: () => readonly Mistake[];
  /** Keys of a mapping; with `allowed`, any other is a mistake. */
  readonly entriesOf: <const K extends string>(
    node: unknown,
    path: readonly string[],
    allowed?: readonly K[],
  ) => readonly Entry<K>[];
  readonly itemsOf: (node: unknown, path: readonly string[]) => readonly Entry[];
  /** A text; numbers, booleans and nothing are mistakes, because they are not what the chart takes. */
  readonly textOf: (node: unknown, path: readonly string[]) => string | undefined;
  readonly refuse: (node: unknown, path: readonly string[], problem: string, allowed?: string) => void;
}

/** Larger files are no chart values. */
const LARGEST = 1024 * 1024;

export function openValuesFile(name: string, text: string): ValuesFile {
  const lines = new LineCounter();
  const mistakes: { readonly line: number; readonly mistake: Mistake }[] = [];
  const tooLarge = text.length > LARGEST;
  // Without aliases in use, a small file stays small when it is read.
  const document = parseDocument(tooLarge ? "" : text, { lineCounter: lines, merge: false });
  const add = (line: number, { subject, ...rest }: Mistake) =>
    mistakes.push({ line, mistake: { subject: `PORTAL_VALUES ${name}:${line}${subject && ` ${subject}`}`, ...rest } });
  if (tooLarge) {
    add(1, { subject: "", problem: "is larger than 1 MiB" });
  }
  for (const { linePos, message } of document.errors) {
    add(linePos?.[0].line ?? 1, { subject: "", problem: message.split("\n", 1)[0]?.trim() ?? message });
  }
  const refuse: ValuesFile["refuse"] = (node, path, problem, allowed) => {
    const offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
    const shown = isScalar(node) && node.source !== path.at(-1) ? node.source : undefined;
    add(lines.linePos(offset).line, {
      subject: path.join(".") || "the file",
      ...(shown !== undefined && shown !== "" && { value: shown }),
      problem,
      ...(allowed !== undefined && { allowed }),
    });
  };
  return {
    document,
    listMistakes: () => mistakes.toSorted((a, b) => a.line - b.line).map(({ mistake }) => mistake),
    refuse,
    entriesOf: <const K extends string>(node: unknown, path: readonly string[], allowed?: readonly K[]) => {
      if (!isMap(node)) {
        // What could not be read at all has been said already.
        if (document.errors.length === 0 && !tooLarge) {
          refuse(node, path, "is not a mapping of keys to values");
        }
        return [];
      }
      return node.items.flatMap(({ key: keyNode, value }): readonly Entry<K>[] => {
        const key = isScalar(keyNode) ? String(keyNode.value) : "";
        const found = allowed === undefined ? (key as K) : allowed.find((one) => one === key);
        if (found !== undefined) {
          return [{ key: found, node: value, path: [...path, key] }];
        }
        refuse(keyNode, [...path, key], unknownKey(key, allowed ?? []), allowed?.join(", "));
        return [];
      });
    },
    itemsOf: (node, path) => {
      if (!isSeq(node)) {
        refuse(node, path, "is not a list");
        return [];
      }
      return node.items.map((item, index) => ({ key: String(index), node: item, path: [...path, String(index)] }));
    },
    textOf: (node, path) => {
      if (isScalar(node) && typeof node.value === "string") {
        return node.value;
      }
      const isPlain = isScalar(node) && node.value !== null;
      refuse(node, path, isPlain ? "is not a text; write it in quotes" : "is not a text");
      return undefined;
    },
  };
}

function unknownKey(key: string, allowed: readonly string[]): string {
  const near = allowed.find((name) => distance(name.toLowerCase(), key.toLowerCase()) <= 2);
  return near === undefined ? "is not a key here" : `is not a key here; did you mean ${near}?`;
}
