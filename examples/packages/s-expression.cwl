cwlVersion: v1.2
$namespaces: { s: https://schema.org/ }
s:softwareVersion: 1.0.0
s:license: https://spdx.org/licenses/Apache-2.0
s:author: [{ class: s:Organization, s:name: Swath }]
$graph:
  - class: Workflow
    id: s-expression
    label: Band calculation
    doc: >-
      Any calculation with the bands of one scene, written as an S-expression, such as ndvi:(/ (- nir red) (+ nir red)). The result
      is a Cloud-Optimised GeoTIFF with a picture, in a STAC catalogue.
    inputs:
      input_reference:
        type: Directory
        label: Scene
        doc: STAC item whose assets the expression names
      s_expression:
        type: string
        label: Expression
        doc: >-
          Optional name and colon, then operations in front of their operands: + - * / ** < <= > >= == != & | ~ min max abs sqrt log
          exp where
    steps:
      calculate:
        run: "#calculate"
        in: { scene: input_reference, expression: s_expression }
        out: [results]
    outputs:
      results:
        type: Directory
        label: Result
        doc: STAC catalogue with one item
        outputSource: calculate/results

  - class: CommandLineTool
    id: calculate
    label: Band calculation
    doc: Writes the result of the expression, a picture of it and their STAC item
    hints:
      DockerRequirement: { dockerPull: "localhost/swath-examples:1.0.0" }
    requirements:
      ResourceRequirement: { coresMin: 1, ramMin: 1024, tmpdirMin: 1024, outdirMin: 1024 }
      NetworkAccess: { networkAccess: false }
    baseCommand: [swath-examples, s-expression]
    inputs:
      scene: { type: Directory, inputBinding: { prefix: --scene } }
      expression: { type: string, inputBinding: { prefix: --expression } }
    outputs:
      results: { type: Directory, outputBinding: { glob: . } }
