const PROGRAM = `
const { writeFileSync } = require("node:fs");
const [title] = process.argv.slice(1);
const item = {
  type: "Feature", stac_version: "1.0.0", id: "made", geometry: null, links: [],
  properties: { datetime: "2026-01-02T03:04:05Z", title },
  assets: { text: { href: "./made.txt", type: "text/plain", roles: ["data"] } },
};
const catalog = {
  type: "Catalog", stac_version: "1.0.0", id: "made", description: "Made by a test",
  links: [{ rel: "item", href: "./made.json", type: "application/geo+json" }],
};
writeFileSync("made.txt", title);
writeFileSync("made.json", JSON.stringify(item));
writeFileSync("catalog.json", JSON.stringify(catalog));
`;

/** Says that it has begun, waits for a file, then says how often it has begun. */
const PATIENT = `
const { appendFileSync, existsSync, readFileSync } = require("node:fs");
appendFileSync("starts", "x");
const timer = setInterval(() => {
  if (existsSync("go")) {
    clearInterval(timer);
    process.argv[1] = "began " + readFileSync("starts", "utf8").length + " times";
    write();
  }
}, 200);
function write() {
${PROGRAM}
}
`;

/** An application package whose one step is a program of the platform's own image, which every cluster of a test has. */
export const testPackage = (image: string): string => describe(image, "write-item", PROGRAM);

/** The same, waiting until somebody puts a file `go` into its working folder. */
export const patientPackage = (image: string): string => describe(image, "wait-for-it", PATIENT);

function describe(image: string, id: string, program: string): string {
  return JSON.stringify({
    cwlVersion: "v1.2",
    $namespaces: { s: "https://schema.org/" },
    "s:softwareVersion": "1.0.0",
    $graph: [
      {
        class: "Workflow",
        id,
        label: "Write an item",
        inputs: { title: "string" },
        steps: { write: { run: "#write", in: { title: "title" }, out: ["results"] } },
        outputs: { results: { type: "Directory", outputSource: "write/results" } },
      },
      {
        class: "CommandLineTool",
        id: "write",
        requirements: { DockerRequirement: { dockerPull: image }, ResourceRequirement: { coresMin: 1, ramMin: 256 } },
        baseCommand: ["node", "-e", program],
        inputs: { title: { type: "string", inputBinding: {} } },
        outputs: { results: { type: "Directory", outputBinding: { glob: "." } } },
      },
    ],
  });
}
