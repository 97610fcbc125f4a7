cwlVersion: v1.2
class: CommandLineTool
baseCommand: "\uD800\uDFFF\uD800"
inputs: {"‮": int, "é": int, "é": int}
outputs: []
