// The documents that the CWL benchmark runs, as files in a folder.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const echo = (js: boolean): string => `class: CommandLineTool
${js ? "requirements: {InlineJavascriptRequirement: {}}" : ""}
baseCommand: echo
inputs: {text: {type: string, inputBinding: {${js ? "valueFrom: '$(self.toUpperCase() + 1)'" : ""}}}}
outputs: {out: stdout}
stdout: ${js ? "$('out' + '.txt')" : "out.txt"}
`;

const inContainer = "hints: {DockerRequirement: {dockerPull: docker.io/library/alpine:latest}}\n";

const indented = (text: string): string => text.trimEnd().replaceAll(/^/gm, "      ");

const scatter = (js: boolean, container = false): string => `cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {items: "string[]"}
outputs: {out: {type: "File[]", outputSource: echo/out}}
steps:
  echo:
    scatter: text
    in: {text: items}
    out: [out]
    run:
${indented(echo(js) + (container ? inContainer : ""))}
`;

const chain = (js: boolean): string => `cwlVersion: v1.2
class: Workflow
inputs: {text: string}
outputs: {out: {type: File, outputSource: s5/out}}
requirements: {StepInputExpressionRequirement: {}, InlineJavascriptRequirement: {}}
steps:
${[1, 2, 3, 4, 5]
  .map(
    (step) => `  s${step}:
    in: {text: text${step === 1 ? "" : `, before: s${step - 1}/out`}}
    out: [out]
    run:
${indented(echo(js))}`,
  )
  .join("\n")}
`;

export interface Documents {
  readonly echo: string;
  readonly echoJs: string;
  readonly echoContainer: string;
  readonly chain: string;
  readonly chainJs: string;
  readonly scatter: string;
  readonly scatterJs: string;
  readonly scatterContainer: string;
  readonly text: string;
  readonly items: (count: number) => string;
}

export function writeDocuments(folder: string): Documents {
  const save = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  return {
    echo: save("echo.cwl", `cwlVersion: v1.2\n${echo(false)}`),
    echoJs: save("echo-js.cwl", `cwlVersion: v1.2\n${echo(true)}`),
    echoContainer: save("echo-container.cwl", `cwlVersion: v1.2\n${echo(false)}${inContainer}`),
    chain: save("chain.cwl", chain(false)),
    chainJs: save("chain-js.cwl", chain(true)),
    scatter: save("scatter.cwl", scatter(false)),
    scatterJs: save("scatter-js.cwl", scatter(true)),
    scatterContainer: save("scatter-container.cwl", scatter(false, true)),
    text: save("text.json", JSON.stringify({ text: "hello" })),
    items: (count) =>
      save(
        `items-${count}.json`,
        JSON.stringify({ items: Array.from({ length: count }, (_, number) => `item ${number}`) }),
      ),
  };
}
