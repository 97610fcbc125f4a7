// Every document of the public CWL v1.2 suite that the reference runner accepts is packed, and the reference runner has nothing to
// say against what comes out. Needs Debian's cwltool (apt-get install cwltool) and the suite at SWATH_SHARED.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { CwlError, loadDocument, packDocument, toJson } from "@swath/cwl";
import { loadConformanceTests } from "@swath/cwl/conformance";

const suite = join(process.env["SWATH_SHARED"] ?? join(import.meta.dirname, "../../../shared"), "cwl-conformance");
const missing = !existsSync("/usr/bin/cwltool")
  ? "needs Debian's cwltool"
  : existsSync(suite)
    ? false
    : `the conformance tests are not at ${suite} (set SWATH_SHARED)`;

/** Validates each file that a line of standard input names, all in one process: starting it is what takes long. */
const ORACLE = `
import io, json, logging, sys
import cwltool.main
for line in sys.stdin:
    said = io.StringIO()
    try:
        code = cwltool.main.main(["--validate", "--disable-color", "--enable-ext", line.strip()], stdout=io.StringIO(), stderr=said, logger_handler=logging.StreamHandler(said))
    except SystemExit as e:
        code = e.code
    except Exception as e:
        code = repr(e)
    print(json.dumps({"file": line.strip(), "code": code, "said": said.getvalue()[-2000:]}), flush=True)
`;

interface Verdict {
  readonly file: string;
  readonly code: unknown;
  readonly said: string;
}

async function callOracle(files: readonly string[]): Promise<Verdict[]> {
  const child = spawn("/usr/bin/python3", ["-c", ORACLE], { stdio: ["pipe", "pipe", "ignore"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  child.stdin.end(files.map((file) => `${file}\n`).join(""));
  await new Promise((resolve) => child.once("close", resolve));
  const verdicts = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Verdict);
  assert.equal(verdicts.length, files.length, "the reference runner ended early");
  return verdicts;
}

test("what is packed is valid for the reference runner", { skip: missing, timeout: 1_800_000 }, async (t) => {
  const documents = [...new Set(loadConformanceTests(join(suite, "conformance_tests.yaml")).map(({ tool }) => tool))];
  const accepted = (await callOracle(documents)).filter(({ code }) => code === 0).map(({ file }) => file);
  assert.ok(accepted.length > 200, `the reference runner accepts ${accepted.length} documents`);
  const folder = mkdtempSync(join(tmpdir(), "cwl-pack-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const sources = new Map<string, string>();
  for (const [index, document] of accepted.entries()) {
    const packed = join(folder, `${index}.cwl`);
    writeFileSync(packed, toJson(await packDocument(await loadDocument(document)), 1));
    sources.set(packed, document);
    await loadDocument(packed).catch((error: unknown) =>
      assert.fail(
        `${document} packed does not load here: ${error instanceof CwlError ? error.message : String(error)}`,
      ),
    );
  }
  const refused = (await callOracle([...sources.keys()])).filter(({ code }) => code !== 0);
  assert.deepEqual(
    refused.map(({ file, said }) => `${sources.get(file)}: ${said}`),
    [],
  );
  t.diagnostic(`${sources.size} documents packed`);
});
