// Texts of the corpus, as they are and changed at random: whatever is read ends soon, with a value or a CwlError.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CwlError, loadDocument, packDocument, validateDocument } from "../src/index.ts";
import { randomFrom } from "./hostile-documents.ts";

const folder = join(import.meta.dirname, "corpus");
const corpus = readdirSync(folder)
  .filter((name) => name !== "README.md")
  .map((name) => [name, readFileSync(join(folder, name), "utf8")] as const);

/** Changes of each text. More are made with CWL_FUZZ=1000, from CWL_FUZZ_SEED on. */
const ROUNDS = Number(process.env["CWL_FUZZ"] ?? 30);
const SEED = Number(process.env["CWL_FUZZ_SEED"] ?? 1);
const limits = { milliseconds: 2000, nodes: 20_000, documentBytes: 1024 * 1024 };
const PIECES = [
  "[",
  "{",
  "}",
  "]",
  '"',
  "'",
  "\n",
  "  ",
  "- ",
  ": ",
  "&a ",
  "*a",
  "$(",
  "${",
  "#",
  "|",
  "$import",
  "\u0000",
  "\ud800",
];

function change(text: string, random: () => number): string {
  let changed = text;
  const at = (): number => Math.floor(random() * (changed.length + 1));
  const count = 1 + Math.floor(random() * 4);
  for (let index = 0; index < count; index += 1) {
    const [start, end] = [at(), at()].toSorted((a, b) => a - b) as [number, number];
    const other = corpus[Math.floor(random() * corpus.length)]?.[1] ?? "";
    const pieces = [
      changed.slice(0, start) + changed.slice(end),
      changed.slice(0, end) + changed.slice(start),
      changed.slice(0, start) + (PIECES[Math.floor(random() * PIECES.length)] ?? "") + changed.slice(start),
      changed.slice(0, start) + other.slice(Math.floor(random() * other.length)),
    ];
    changed = (pieces[Math.floor(random() * pieces.length)] ?? changed).slice(0, 20_000);
  }
  return changed;
}

async function read(text: string): Promise<void> {
  const options = { text, localFiles: false, limits };
  const report = await validateDocument("https://example.org/fuzz.cwl", options);
  try {
    const document = await loadDocument("https://example.org/fuzz.cwl", options);
    await packDocument(document);
  } catch (error) {
    assert.ok(error instanceof CwlError, `not a CwlError: ${String((error as Error).stack)}`);
    assert.equal(report.valid, false, `valid, but does not load: ${error.message}`);
  }
}

for (const [name, text] of corpus) {
  test(`corpus ${name}`, async () => {
    await read(text);
    for (let round = 0; round < ROUNDS; round += 1) {
      const changed = change(text, randomFrom(SEED + round));
      await read(changed).catch((error: unknown) => {
        throw new Error(`seed ${SEED + round}: ${JSON.stringify(changed).slice(0, 2000)}`, { cause: error });
      });
    }
    assert.equal(({} as Record<string, unknown>)["x"], undefined, "the prototype of objects was changed");
  });
}
