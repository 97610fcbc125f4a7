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

/** An application package whose one step is a program of the platform's own image, which every cluster of a test has. */
export function testPackage(image: string): string {
  return JSON.stringify({
    cwlVersion: "v1.2",
    $namespaces: { s: "https://schema.org/" },
    "s:softwareVersion": "1.0.0",
    $graph: [
      {
        class: "Workflow",
        id: "write-item",
        label: "Write an item",
        inputs: { title: "string" },
        steps: { write: { run: "#write", in: { title: "title" }, out: ["results"] } },
        outputs: { results: { type: "Directory", outputSource: "write/results" } },
      },
      {
        class: "CommandLineTool",
        id: "write",
        requirements: { DockerRequirement: { dockerPull: image }, ResourceRequirement: { coresMin: 1, ramMin: 256 } },
        baseCommand: ["node", "-e", PROGRAM],
        inputs: { title: { type: "string", inputBinding: {} } },
        outputs: { results: { type: "Directory", outputBinding: { glob: "." } } },
      },
    ],
  });
}
