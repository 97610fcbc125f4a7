cwlVersion: v1.0
$namespaces: { s: "https://schema.org/" }
s:softwareVersion: 0.1.2
$graph:
  - class: Workflow
    id: convert-url
    label: convert url app
    doc: The interface of the deployment guide's example, which scales a picture
    inputs:
      fn: string
      url: string
      size: string
    outputs:
      - id: converted_image
        type: Directory
        outputSource: convert/results
    steps:
      convert:
        run: "#convert"
        in: { fn: fn, url: url, size: size }
        out: [results]
  - class: CommandLineTool
    id: convert
    baseCommand: [sh, -c]
    arguments:
      - valueFrom: echo '{"type":"Catalog","stac_version":"1.0.0","id":"converted","description":"Converted","links":[]}' > catalog.json
        position: 0
    inputs:
      fn: { type: string, inputBinding: { position: 1 } }
      url: { type: string, inputBinding: { position: 2 } }
      size: { type: string, inputBinding: { position: 3 } }
    outputs:
      results:
        type: Directory
        outputBinding: { glob: . }
