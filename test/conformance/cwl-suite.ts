// The tests of the public CWL v1.2 suite (common-workflow-language/cwl-v1.2), as its index lists them.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface ConformanceTest {
  readonly id: string;
  readonly folder: string;
  readonly tool: string;
  readonly job?: string | null;
  readonly output?: unknown;
  readonly should_fail?: boolean;
}

/** The suite's own index is YAML that only Python's reader takes: flow lists at the indentation of their key. */
export const python = "/usr/bin/python3";

/** Why the suite cannot be read here; `undefined` when it can. */
export function whyNoSuite(suite: string): string | undefined {
  return !existsSync(suite)
    ? `the conformance tests are not at ${suite} (set SWATH_SHARED)`
    : spawnSync(python, ["-c", "import yaml"]).status === 0
      ? undefined
      : "python3-yaml is not installed (Debian: apt-get install python3-yaml)";
}

export function* loadTests(path: string): Generator<ConformanceTest> {
  const folder = dirname(path);
  for (const entry of readSuiteFile(path) as Record<string, unknown>[]) {
    if (typeof entry["$import"] === "string") {
      yield* loadTests(join(folder, entry["$import"]));
    } else {
      yield { ...entry, output: resolveImports(entry["output"], folder), folder } as ConformanceTest;
    }
  }
}

function readSuiteFile(path: string): unknown {
  const script = "import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)";
  return JSON.parse(execFileSync(python, ["-c", script, path], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 }));
}

function resolveImports(value: unknown, folder: string): unknown {
  const reference = (value as { $import?: unknown } | null | undefined)?.$import;
  return typeof reference === "string" ? (JSON.parse(readFileSync(join(folder, reference), "utf8")) as unknown) : value;
}
