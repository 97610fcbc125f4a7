/** A package to begin with: small, and it runs as it is. */
export const TEMPLATE = `cwlVersion: v1.2
$namespaces: { s: https://schema.org/ }
s:softwareVersion: 0.1.0
$graph:
  - class: Workflow
    id: greet
    label: Greeting
    doc: Writes a greeting. A package to begin with.
    inputs:
      name:
        type: string
        default: world
        label: Name
        doc: Who is greeted
    steps:
      write:
        run: "#write"
        in: { name: name }
        out: [text]
    outputs:
      text:
        type: string
        label: Greeting
        outputSource: write/text

  - class: CommandLineTool
    id: write
    label: Write the greeting
    requirements:
      InlineJavascriptRequirement: {}
      ResourceRequirement: { coresMin: 1, ramMin: 64 }
    baseCommand: [echo, Hello]
    inputs:
      name: { type: string, inputBinding: { position: 1 } }
    stdout: greeting.txt
    outputs:
      text:
        type: string
        outputBinding:
          glob: greeting.txt
          loadContents: true
          outputEval: $(self[0].contents.trim())
`;
