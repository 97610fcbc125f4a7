/** A tool that says its input. */
export const ECHO_TOOL = `cwlVersion: v1.2
class: CommandLineTool
id: say
baseCommand: [echo]
inputs: { text: { type: string, inputBinding: { position: 1 } } }
stdout: said.txt
outputs: { said: { type: string, outputBinding: { glob: said.txt, loadContents: true, outputEval: "$(self[0].contents)" } } }
`;

/** A workflow of one step that runs a shell command with one text; what the command writes is the output `text`. */
export const shellPackage = (id: string, script: string, requirements = "{}"): string => `cwlVersion: v1.2
$graph:
  - class: Workflow
    id: ${id}
    inputs: { name: string }
    steps: { run: { run: "#tool", in: { name: name }, out: [text] } }
    outputs: { text: { type: string, outputSource: run/text } }
  - class: CommandLineTool
    id: tool
    requirements: ${requirements}
    baseCommand: [sh, -c, ${JSON.stringify(script)}, sh]
    inputs: { name: { type: string, inputBinding: { position: 1 } } }
    stdout: out.txt
    outputs: { text: { type: string, outputBinding: { glob: out.txt, loadContents: true, outputEval: "$(self[0].contents)" } } }
`;

/** A workflow that runs a shell command on a file by reference, and gives back the files that it writes. */
export const filePackage = (id: string, script: string): string => `cwlVersion: v1.2
$graph:
  - class: Workflow
    id: ${id}
    inputs: { file: File }
    steps: { run: { run: "#tool", in: { file: file }, out: [files] } }
    outputs: { files: { type: Directory, outputSource: run/files } }
  - class: CommandLineTool
    id: tool
    baseCommand: [sh, -c, ${JSON.stringify(script)}, sh]
    inputs: { file: { type: File, inputBinding: { position: 1 } } }
    outputs: { files: { type: Directory, outputBinding: { glob: . } } }
`;
