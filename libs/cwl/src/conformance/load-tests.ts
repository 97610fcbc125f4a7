import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CwlError } from "../errors.ts";
import { defaultLoadLimits } from "../load/budget.ts";
import { fileUri } from "../load/uri.ts";
import { parseYaml } from "../load/yaml.ts";
import { isObject } from "../model/values.ts";

/** One test of a conformance suite. */
export interface ConformanceTest {
  /** Its number in the suite, from 1. */
  readonly number: number;
  /** `id`, or in older suites `label` or `short_name`. */
  readonly id: string;
  readonly doc: string;
  readonly tags: readonly string[];
  /** Absolute path of the document, with `#id` where the suite has one. */
  readonly tool: string;
  /** Absolute path of the input object. */
  readonly job: string | undefined;
  readonly output: unknown;
  readonly shouldFail: boolean;
}

const MAX_SUITE_FILES = 1000;

/** Reads the file of a suite (conformance_tests.yaml) with all that it imports. Throws `invalid-document`. */
export function loadConformanceTests(path: string): ConformanceTest[] {
  const tests: ConformanceTest[] = [];
  let files = 0;
  const visit = (file: string): void => {
    files += 1;
    if (files > MAX_SUITE_FILES) {
      throw invalid(file, `the suite imports more than ${MAX_SUITE_FILES} files`);
    }
    const entries = read(file);
    if (!Array.isArray(entries)) {
      throw invalid(file, "a conformance suite is a list of tests");
    }
    for (const entry of entries as unknown[]) {
      if (!isObject(entry)) {
        throw invalid(file, "a test is an object with tool, job and output");
      }
      if (typeof entry["$import"] === "string") {
        visit(join(dirname(file), entry["$import"]));
      } else {
        tests.push(toTest(entry, file, tests.length + 1));
      }
    }
  };
  visit(resolve(path));
  return tests;
}

function toTest(entry: { readonly [key: string]: unknown }, file: string, number: number): ConformanceTest {
  const folder = dirname(file);
  const { tool, job, doc, tags } = entry;
  if (typeof tool !== "string") {
    throw invalid(file, `test ${number} has no tool`);
  }
  const id = [entry["id"], entry["label"], entry["short_name"]].find(
    (item) => typeof item === "string" || typeof item === "number",
  );
  return {
    number,
    id: String(id ?? number),
    doc: typeof doc === "string" ? doc.trim().replaceAll(/\s+/g, " ") : "",
    tags: Array.isArray(tags) && tags.length > 0 ? (tags as unknown[]).map(String) : ["required"],
    tool: join(folder, tool),
    job: typeof job === "string" ? join(folder, job) : undefined,
    output: withImports(entry["output"], folder),
    shouldFail: entry["should_fail"] === true,
  };
}

function withImports(value: unknown, folder: string): unknown {
  return isObject(value) && typeof value["$import"] === "string" ? read(join(folder, value["$import"])) : value;
}

function read(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new CwlError("reference", `cannot read the conformance suite ${file}`, { cause: error });
  }
  return parseYaml({ uri: fileUri(file), text }, defaultLoadLimits);
}

function invalid(file: string, message: string): CwlError {
  return new CwlError("invalid-document", [{ severity: "error", message, file: fileUri(file) }]);
}
