cwlVersion: v1.2
class: CommandLineTool
class: Workflow
inputs: {a: int, a: string}
outputs: []
