// Packages that name a file of the machine at every place where CWL has a File.
import { join } from "node:path";

const JS = "requirements: { InlineJavascriptRequirement: {} }";
/** A package of one expression. */
export const expressionTool = (value: string, inputs = "[]"): string => `cwlVersion: v1.2
class: ExpressionTool
${JS}
inputs: ${inputs}
outputs: { out: Any }
expression: ${JSON.stringify(`\${return {out: ${value}};}`)}
`;
const tool = (script: string, output: string, more = ""): string => `cwlVersion: v1.2
class: CommandLineTool
${JS}
${more}
baseCommand: [sh, -c, ${JSON.stringify(script)}]
inputs: []
outputs: { out: ${output} }
`;

/** Each package with its id, and the words that say why it is refused, when it is deployed or when it runs. */
export function packagesThatName(path: string): readonly (readonly [string, string, RegExp])[] {
  const uri = `file://${path}`;
  const parent = join(path, "..");
  const file = `{class: 'File', location: '${uri}'}`;
  const refused = /is no file of this job|unsafe|outside|relative path/;
  const notLoaded = /file:|local file|cannot be read|refer|may not|not allowed|nothing outside/i;
  return [
    ["location", expressionTool(file), refused],
    ["path", expressionTool(`{class: 'File', path: '${path}'}`), refused],
    [
      "spelling",
      expressionTool(`{class: 'File', location: 'FILE://localhost${path.replace("secrets", "%73ecrets")}'}`),
      refused,
    ],
    [
      "secondary-of-literal",
      expressionTool(`{class: 'File', basename: 'a', contents: 'a', secondaryFiles: [${file}]}`),
      refused,
    ],
    ["directory", expressionTool(`{class: 'Directory', location: 'file://${parent}'}`), refused],
    ["listing", expressionTool(`{class: 'Directory', basename: 'd', listing: [${file}]}`), refused],
    ["nested-record", expressionTool(`{a: [{b: ${file}}]}`), refused],
    [
      "secondary-files",
      tool(
        "echo a > a.txt",
        `{ type: File, outputBinding: { glob: a.txt }, secondaryFiles: ["\${return ${file.replaceAll('"', "'")};}"] }`,
      ),
      refused,
    ],
    [
      "cwl-output-json",
      tool(`echo '{"out": {"class": "File", "location": "${uri}"}}' > cwl.output.json`, "File"),
      refused,
    ],
    [
      "cwl-output-json-path",
      tool(`echo '{"out": {"class": "File", "path": "${path}"}}' > cwl.output.json`, "File"),
      refused,
    ],
    ["output-eval", tool("true", `{ type: File, outputBinding: { outputEval: "\${return ${file};}" } }`), refused],
    [
      "link",
      tool(`ln -s ${path} a.txt`, "{ type: File, outputBinding: { glob: a.txt } }"),
      /outside|link|no file of this job/,
    ],
    [
      "link-to-folder",
      tool(`ln -s ${parent} d`, "{ type: Directory, outputBinding: { glob: d } }"),
      /outside|link|no file of this job/,
    ],
    ["glob", tool("true", `{ type: File, outputBinding: { glob: "${path}" } }`), /outside|glob|absolute/],
    [
      "glob-up",
      tool("true", `{ type: File, outputBinding: { glob: "../../../../../../../../..${path}" } }`),
      /outside|glob|\.\./,
    ],
    [
      "work-dir",
      tool("cat here > out", "{ type: File, outputBinding: { glob: out } }").replace(
        "InlineJavascriptRequirement: {}",
        `InlineJavascriptRequirement: {}, InitialWorkDirRequirement: { listing: [{ class: File, location: "${uri}", basename: here }] }`,
      ),
      /./,
    ],
    [
      "default",
      expressionTool(
        "inputs.f",
        `{ f: { type: File, loadContents: true, default: { class: File, location: "${uri}" } } }`,
      ),
      refused,
    ],
    ["import", expressionTool("1").replace("inputs: []", `inputs: { f: { type: { $import: "${uri}" } } }`), notLoaded],
    [
      "include",
      expressionTool("1").replace(
        "InlineJavascriptRequirement: {}",
        `InlineJavascriptRequirement: { expressionLib: [{ $include: "${uri}" }] }`,
      ),
      notLoaded,
    ],
    ...[`dockerImport: "${path}"`, `dockerLoad: "${path}"`, `dockerFile: "FROM scratch\\nADD ${path} /"`].map(
      (field, index) =>
        [
          `image-${index}`,
          tool("cat /*", "Any", `hints: {}`).replace(
            "InlineJavascriptRequirement: {}",
            `InlineJavascriptRequirement: {}, DockerRequirement: { ${field}, dockerImageId: some-image-${index} }`,
          ),
          /images are not built or loaded here|no container engine is used here|cannot be fetched/,
        ] as const,
    ),
    ["schemas", `${expressionTool("1")}$schemas: ["${uri}"]\n`, /./],
  ];
}
