// Documents of public repositories under this engine and under the reference runner: the same verdict of validation, and the
// same outputs wherever both run a document with a job file that lies beside it. Nothing of theirs is kept here: clone
// repositories side by side and say where. Both runners work without network, in bubblewrap, and write into one folder only.
//
//     CWL_REPOSITORIES=~/cwl CWLTOOL_PYTHON=~/venv/bin/python npm run test:suites -- cwl-repositories
//
// CWLTOOL_PYTHON is a Python with the package cwltool (default: Debian's); CWL_PART=PATTERN takes the
// repositories alone whose name matches, CWL_EVERY=N every Nth document; CWL_REPORT=FILE writes every difference down.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import type { Loader } from "@swath/cwl";
import { createLoader, formatProblem, validateDocument } from "@swath/cwl";

import { ReferenceRunner, findDocuments, jobsFor, runFenced } from "./cwl-repositories.ts";

// oxlint-disable node/no-process-env -- a program of its own; where the repositories are is the caller's to say
const folder = process.env["CWL_REPOSITORIES"] ?? "";
const python = process.env["CWLTOOL_PYTHON"] ?? "/usr/bin/python3";
const part = process.env["CWL_PART"] ?? ".";
const every = Number(process.env["CWL_EVERY"] ?? 1);
const reportFile = process.env["CWL_REPORT"];
// oxlint-enable node/no-process-env
const SECONDS = 180;
/** Share of documents with the same verdict. */
const AGREEMENT = 0.99;

/** Documents whose verdicts differ because the reference runner is wrong, by the end of their path, and why. */
const OURS_IS_RIGHT: Readonly<Record<string, string>> = {
  "valid_iwd-fileobjs2.cwl": "a file that the document names is looked for when it runs",
  "cwl_files/TrimAdapters.cwl": "${#name[@]} is no JavaScript, which the reference runner finds out when it runs",
  "cwl_files/talon.cwl": "${file%.*} is no JavaScript, which the reference runner finds out when it runs",
  "extensions/process-generator_v1_0.cwl": "process generators are refused by name",
  "extensions/process-generator_v1_1.cwl": "process generators are refused by name",
  "extensions/process-generator_v1_2.cwl": "process generators are refused by name",
  "wf/generator/pytoolgen.cwl": "process generators are refused by name",
  "extensions/secrets_v1_0.cwl": "cwltool:Secrets works as a requirement too",
  "extensions/secrets_v1_1.cwl": "cwltool:Secrets works as a requirement too",
  "extensions/secrets_v1_2.cwl": "cwltool:Secrets works as a requirement too",
  "remote-cwl/tool2.cwl": "a named array is a type of SchemaDefRequirement (v1.2)",
  "remote-cwl/wf1.cwl": "a named array is a type of SchemaDefRequirement (v1.2)",
  "remote-cwl/wf1-packed.cwl": "a named array is a type of SchemaDefRequirement (v1.2)",
  "intervene/intervene.cwl":
    "an expression with a colon that is not quoted is an object; the reference runner leaves that argument out",
  "cwl-v1.1/tests/timelimit-wf.cwl": "a text without an expression is an outputEval, as in v1.0",
  "cwl-v1.1/tests/timelimit4-wf.cwl": "a text without an expression is an outputEval, as in v1.0",
  "wf/generator/zing.cwl": "an input object of a process generator, not a document",
};
/** Pairs whose outputs differ by themselves from run to run, by the end of the document's path, and why. */
const NEVER_THE_SAME: Readonly<Record<string, string>> = {
  "pluto-cwl/cwl/env.cwl": "prints its environment",
  "environment-variables/env.cwl": "prints its environment, in which HOME and TMPDIR are folders of the run",
  "cwltool/tests/env2.cwl": "prints its environment",
  "cwltool/tests/env3.cwl": "prints its environment",
  "cwltool/tests/env4.cwl": "prints its environment",
  "subgraph/env-wf2_subwf-packed.cwl": "the most specific requirement holds there the outermost of workflows",
  "subgraph/env-wf2_subwf_b.cwl": "the most specific requirement holds, there the outermost of workflows",
  "subgraph/env-wf2_subwf.cwl": "the most specific requirement holds, there the outermost of workflows",
  "cwl-patterns/embed-script-and-stage-files.cwl": "prints paths of the run",
  "cwl-patterns/list-of-files-1.cwl": "prints paths of the run",
  "cwl-patterns/list-of-files-python.cwl": "prints paths of the run",
  "cwl-patterns/stage-files.cwl": "prints paths of the run",
  "tests/paramref_arguments_runtime.cwl": "prints paths of the run",
  "tests/env-wf2.cwl":
    "cwl:requirements of the input object go before the workflow's own, as they do for a tool in the conformance tests",
  "cwl/echo_string_scatter_capture_stdout.cwl": "prints the time and a path",
  "extensions/work-reuse_v1_0.cwl": "prints the time",
  "runtimeReqsDemo/runtime-demo.cwl":
    "the reference runner gives an ExpressionTool no outdir and 1,024 MiB in v1.0; here it is 256 MiB in every version (CWL v1.2)",
};

const missing = whyMissing();
const lines: string[] = [];

/** What was found, with the counts so far at its head: a long run can be read before it ends. */
function writeReport(summary: string): void {
  if (reportFile !== undefined) {
    writeFileSync(reportFile, `${[summary, ...lines].join("\n")}\n`);
  }
}

function whyMissing(): string | false {
  if (folder === "" || !existsSync(folder)) {
    return "needs a folder of cloned repositories with CWL documents, named by CWL_REPOSITORIES";
  }
  if (spawnSync("bwrap", ["--version"]).status !== 0) {
    return "needs bubblewrap (apt-get install bubblewrap)";
  }
  return spawnSync(python, ["-c", "import cwltool"]).status === 0 ? false : `${python} has no package cwltool`;
}

test("verdicts and outputs are those of the reference runner", { skip: missing, timeout: 7_200_000 }, async (t) => {
  const scratch = mkdtempSync(join(tmpdir(), "cwl-repositories-"));
  const runners = [new ReferenceRunner(python, scratch), new ReferenceRunner(python, scratch)];
  const loader = createLoader();
  t.after(async () => {
    runners.forEach((runner) => runner.close());
    await loader.close();
    rmSync(scratch, { recursive: true, force: true });
  });
  const documents = readdirSync(folder)
    .filter((name) => new RegExp(part).test(name))
    .flatMap((name) => findDocuments(join(folder, name)))
    .filter((_, index) => index % every === 0);
  assert.ok(documents.length > 0, `no documents in ${folder}`);
  const count = {
    same: 0,
    differ: 0,
    decided: 0,
    pairs: 0,
    bothRun: 0,
    equal: 0,
    neither: 0,
    oursOnly: 0,
    theirsOnly: 0,
  };
  const wrong: string[] = [];
  let next = 0;
  const worker = async (runner: ReferenceRunner): Promise<void> => {
    while (next < documents.length) {
      writeReport(`${next} of ${documents.length} ${JSON.stringify(count)}`);
      const path = documents[next] ?? "";
      next += 1;
      const name = relative(folder, path);
      const theirs = await runner.send(
        ["--validate", "--disable-color", "--enable-ext", "--enable-dev", path],
        scratch,
        SECONDS,
      );
      const ours = await validate(loader, path);
      if ((theirs.code === 0) !== ours.valid) {
        const why = reasonOf(OURS_IS_RIGHT, name);
        count[why === undefined ? "differ" : "decided"] += 1;
        lines.push(
          `VERDICT ${name}: ours ${ours.valid ? "valid" : ours.said}; theirs ${theirs.code === 0 ? "valid" : lastOf(theirs.said)}${why === undefined ? "" : ` (decided: ${why})`}`,
        );
        continue;
      }
      count.same += 1;
      if (!ours.valid) {
        continue;
      }
      for (const job of ours.jobs) {
        count.pairs += 1;
        const outcome = await comparePair(runner, scratch, path, job);
        count[outcome.kind] += 1;
        const pair = `${name} ${job === undefined ? "" : relative(dirname(path), job)}`;
        if (outcome.kind === "bothRun") {
          const isDecided = reasonOf(NEVER_THE_SAME, name) !== undefined;
          count.equal += outcome.difference === undefined || isDecided ? 1 : 0;
          if (outcome.difference !== undefined && !isDecided) {
            wrong.push(pair);
            lines.push(`OUTPUT ${pair}: ${outcome.difference}`);
          }
        } else if (outcome.kind !== "neither") {
          lines.push(`${outcome.kind} ${pair}: ${outcome.said}`);
        }
      }
    }
  };
  await Promise.all(runners.map(worker));
  const summary = JSON.stringify({ documents: documents.length, ...count });
  writeReport(summary);
  t.diagnostic(summary);
  assert.deepEqual(wrong, [], "outputs differ");
  const agreement = (count.same + count.decided) / documents.length;
  assert.ok(agreement >= AGREEMENT, `the verdicts of ${(agreement * 100).toFixed(2)} % are the same`);
});

async function validate(
  loader: Loader,
  path: string,
): Promise<{ valid: boolean; said: string; jobs: (string | undefined)[] }> {
  const report = await loader.validate(path);
  const said = report.problems.filter(({ severity }) => severity === "error").map(formatProblem);
  if (!report.valid) {
    return { valid: false, said: said.slice(0, 3).join(" | "), jobs: [] };
  }
  const document = report.document ?? (await validateDocument(path)).document;
  return { valid: true, said: "", jobs: document === undefined ? [] : jobsFor(path, document) };
}

type Outcome =
  | { readonly kind: "bothRun"; readonly difference: string | undefined }
  | { readonly kind: "neither" | "oursOnly" | "theirsOnly"; readonly said: string };

async function comparePair(
  runner: ReferenceRunner,
  scratch: string,
  path: string,
  job: string | undefined,
): Promise<Outcome> {
  const place = mkdtempSync(join(scratch, "pair-"));
  const provided = [path, ...(job === undefined ? [] : [job])];
  const folderOf = (name: string): string => {
    mkdirSync(join(place, name));
    return join(place, name);
  };
  try {
    const [theirPlace, ourPlace] = [folderOf("theirs"), folderOf("ours")];
    const options = ["--no-container", "--quiet", "--enable-ext", "--enable-dev", "--outdir"];
    const theirs = await runner.send([...options, join(theirPlace, "out"), ...provided], theirPlace, SECONDS);
    const main = join(import.meta.dirname, "../../libs/cwl/main.ts");
    const command = [process.execPath, main, "run", ...options, join(ourPlace, "out"), ...provided];
    const ours = await runFenced(scratch, command, ourPlace, SECONDS);
    if (theirs.code !== 0 || ours.code !== 0) {
      const kind = theirs.code === 0 ? "theirsOnly" : ours.code === 0 ? "oursOnly" : "neither";
      return { kind, said: lastOf(kind === "theirsOnly" ? ours.said : theirs.said) };
    }
    const [a, b] = [plain(JSON.parse(theirs.out)), plain(JSON.parse(ours.out))].map((value) => JSON.stringify(value));
    return { kind: "bothRun", difference: a === b ? undefined : `theirs ${a?.slice(0, 600)} ours ${b?.slice(0, 600)}` };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** An output object with names sorted, and files as what lies on the disk rather than where. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(plain);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const item = value as Readonly<Record<string, unknown>>;
  if (item["class"] === "File" || item["class"] === "Directory") {
    const place = [item["location"], item["path"]].find((name) => typeof name === "string") ?? "";
    const path = place.startsWith("file://") ? fileURLToPath(place) : place;
    const secondary = Array.isArray(item["secondaryFiles"]) ? item["secondaryFiles"].map(plain) : [];
    return {
      class: item["class"],
      // Where a document leaves a name open, each runner makes one up; of two files with one name, each numbers the second.
      basename: (typeof item["basename"] === "string" ? item["basename"] : basename(path))
        .replace(/_\d+(?=\.|$)/, "")
        // Of a directory that is a whole working directory, the name is that of the folder: random there, a number here.
        .replace(item["class"] === "Directory" ? /^(?:[0-9a-z_]{8}|\d+)$/ : /^[0-9a-f]{40}$/, "(made up)"),
      format: item["format"] ?? null,
      content: existsSync(path) ? contentOf(path) : "is not there",
      secondary: secondary.map((file) => JSON.stringify(file)).toSorted(),
    };
  }
  return Object.fromEntries(
    Object.entries(item)
      // An output that is not there is null or absent.
      .filter(([, inner]) => inner !== null)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, plain(inner)]),
  );
}

function contentOf(path: string): unknown {
  if (statSync(path).isDirectory()) {
    return Object.fromEntries(
      readdirSync(path)
        .toSorted()
        .map((name) => [name, contentOf(join(path, name))]),
    );
  }
  const content = readFileSync(path);
  return content.length < 200 ? content.toString() : createHash("sha256").update(content).digest("hex");
}

function reasonOf(table: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.entries(table).find(([end]) => name.endsWith(end))?.[1];
}

function lastOf(said: string): string {
  return said.trim().split("\n").slice(-4).join(" | ").slice(-500);
}
