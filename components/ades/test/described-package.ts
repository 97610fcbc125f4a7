/** A package of one step that runs a shell command; its outputs are the text that it writes and how long that is. */
export const describedPackage = (id: string, script: string, more = ""): string => `
cwlVersion: v1.2
s:softwareVersion: 1.2.3
s:keywords: [test, shell]
$namespaces: { s: "https://schema.org/" }
$graph:
  - class: Workflow
    id: ${id}
    label: A shell command
    doc: A package of the tests
    inputs:
      name: { type: string, label: A name, doc: Whom to greet }
      times: { type: int, default: 1 }
      mode: { type: { type: enum, symbols: [loud, quiet] }, default: quiet }
      tags: { type: "string[]?" }
    steps:
      run: { run: "#tool", in: { name: name }, out: [text, length] }
    outputs:
      text: { type: string, outputSource: run/text }
      length: { type: int, outputSource: run/length }
  - class: CommandLineTool
    id: tool
    requirements: { InlineJavascriptRequirement: {} }
    baseCommand: [sh, -c, ${JSON.stringify(script)}, sh]
    inputs: { name: { type: string, inputBinding: { position: 1 } } }
    stdout: out.txt
    outputs:
      text: { type: string, outputBinding: { glob: out.txt, loadContents: true, outputEval: "$(self[0].contents)" } }
      length: { type: int, outputBinding: { glob: out.txt, loadContents: true, outputEval: "$(self[0].contents.length)" } }
${more}`;
