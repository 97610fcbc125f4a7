/** Packages of the tests of steps on several nodes. */

/** Static busybox, for the tools. */
export const TOOL_IMAGE = "localhost/swath-test-busybox:1";
/** Bytes of the input that all steps of the scatter have in common. */
export const COMMON_BYTES = 30_000_000;

const tool = (id: string, script: string, more: object) => ({
  class: "CommandLineTool",
  id,
  requirements: {
    DockerRequirement: { dockerPull: TOOL_IMAGE },
    InlineJavascriptRequirement: {},
    ResourceRequirement: { coresMin: 0.3, ramMin: 64 },
  },
  baseCommand: ["sh", "-c", script],
  ...more,
});
const document = (...graph: object[]) =>
  JSON.stringify({
    cwlVersion: "v1.2",
    $namespaces: { s: "https://schema.org/" },
    "s:softwareVersion": "1.0.0",
    $graph: graph,
  });
const contents = (glob: string) => ({
  type: "string",
  outputBinding: { glob, loadContents: true, outputEval: "$(self[0].contents)" },
});

/** One step makes a large file with a secondary one and a directory, many read both, and one reads what all of those printed. */
export const PIPELINE = document(
  {
    class: "Workflow",
    id: "pipeline",
    requirements: { ScatterFeatureRequirement: {} },
    inputs: { numbers: "int[]" },
    steps: {
      make: { run: "#make", in: {}, out: ["common", "tree"] },
      each: {
        run: "#each",
        scatter: "number",
        in: { number: "numbers", common: "make/common", tree: "make/tree" },
        out: ["printed"],
      },
      join: { run: "#join", in: { files: "each/printed" }, out: ["text"] },
    },
    outputs: { text: { type: "string", outputSource: "join/text" } },
  },
  tool(
    "make",
    `head -c ${COMMON_BYTES} /dev/urandom >common.bin; sha256sum <common.bin | cut -c1-64 >common.bin.sum
     mkdir -p tree/empty tree/sub; cp common.bin.sum tree/sub/; ln -s sub/common.bin.sum tree/link; printf run >tree/tool; chmod 755 tree/tool`,
    {
      inputs: {},
      outputs: {
        common: { type: "File", secondaryFiles: [".sum"], outputBinding: { glob: "common.bin" } },
        tree: { type: "Directory", outputBinding: { glob: "tree" } },
      },
    },
  ),
  tool(
    "each",
    `set -e; test "$(sha256sum <"$1" | cut -c1-64)" = "$(cat "$1.sum")"; cmp "$1.sum" "$2/link"; test -d "$2/empty"; test -x "$2/tool"
     if touch "$1" 2>/dev/null; then echo "an input can be written" >&2; exit 9; fi; sleep 2; echo "number $0"`,
    {
      inputs: {
        number: { type: "int", inputBinding: { position: 1 } },
        common: { type: "File", secondaryFiles: [".sum"], inputBinding: { position: 2 } },
        tree: { type: "Directory", inputBinding: { position: 3 } },
      },
      stdout: "printed.txt",
      outputs: { printed: { type: "stdout" } },
    },
  ),
  tool("join", 'cat "$0" "$@" | sort -k2n | tr "\\n" ";"', {
    inputs: { files: { type: "File[]", inputBinding: {} } },
    stdout: "all.txt",
    outputs: { text: contents("all.txt") },
  }),
);

/** Notes that it has begun, waits for a file, and says how often it has begun. */
export const PATIENT = document(
  {
    class: "Workflow",
    id: "patient",
    inputs: {},
    steps: { wait: { run: "#wait", in: {}, out: ["starts"] } },
    outputs: { starts: { type: "string", outputSource: "wait/starts" } },
  },
  tool("wait", "echo begun >>starts; while [ ! -e go ]; do sleep 0.2; done; wc -l <starts >count", {
    inputs: {},
    outputs: { starts: contents("count") },
  }),
);

/** The same, many times side by side. */
export const PATIENT_SCATTER = document(
  {
    class: "Workflow",
    id: "patient-scatter",
    requirements: { ScatterFeatureRequirement: {} },
    inputs: { numbers: "int[]" },
    steps: {
      each: { run: "#each", scatter: "number", in: { number: "numbers" }, out: ["starts"] },
      join: { run: "#join", in: { files: "each/starts" }, out: ["text"] },
    },
    outputs: { text: { type: "string", outputSource: "join/text" } },
  },
  tool("each", 'echo "$0" >>starts; while [ ! -e go ]; do sleep 0.2; done', {
    inputs: { number: { type: "int", inputBinding: {} } },
    outputs: { starts: { type: "File", outputBinding: { glob: "starts" } } },
  }),
  tool("join", 'cat "$0" "$@" | sort -n | tr "\\n" ";"', {
    inputs: { files: { type: "File[]", inputBinding: {} } },
    stdout: "all.txt",
    outputs: { text: contents("all.txt") },
  }),
);

/** Looks for what the containers beside it have, and asks the agent without it. */
const HOSTILE_PROGRAM = `
const { existsSync, readdirSync, writeFileSync } = require("node:fs");
const { hostname } = require("node:os");
const base = "http://ades-blobs.zoo.svc:8090";
const paths = ["/jobs/job/steps/" + hostname() + "/inputs", "/jobs/job/blobs/" + "0".repeat(64), "/"];
Promise.all(paths.map(async (path) => (await fetch(base + path)).status)).then((statuses) => {
  const processes = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).length;
  const variables = Object.keys(process.env).filter((name) => name.startsWith("STEP_")).join() || "none";
  const found = ["secrets=" + existsSync("/var/run/secrets/swath.io"), "step=" + existsSync("/step"), "variables=" + variables];
  writeFileSync("seen", [statuses.join(), "processes=" + processes, ...found].join(" "));
});
`;
export const HOSTILE = document(
  {
    class: "Workflow",
    id: "hostile",
    inputs: {},
    steps: { look: { run: "#look", in: {}, out: ["seen"] } },
    outputs: { seen: { type: "string", outputSource: "look/seen" } },
  },
  {
    ...tool("look", "", { inputs: {}, outputs: { seen: contents("seen") } }),
    requirements: {
      DockerRequirement: { dockerPull: process.env["SWATH_IMAGE"] ?? "" },
      InlineJavascriptRequirement: {},
      ResourceRequirement: { coresMin: 0.3, ramMin: 256 },
    },
    baseCommand: ["node", "-e", HOSTILE_PROGRAM],
  },
);
