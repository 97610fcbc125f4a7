import { type EoPackage, LIST, METADATA, stac, tool } from "./eo-package.ts";

/** Packages of one document with several processes. */
export const eoGraphs = (): readonly EoPackage[] => [
  {
    id: "water-bodies",
    version: "1.4.1",
    files: {
      "app.cwl": `cwlVersion: v1.0
${METADATA}schemas:
  - http://schema.org/version/9.0/schemaorg-current-http.rdf
$graph:
  - class: Workflow
    id: water-bodies
    label: Water bodies detection
    doc: Water bodies detection by NDWI
    requirements:
      - class: ScatterFeatureRequirement
      - class: SubworkflowFeatureRequirement
    inputs:
      aoi: {label: area of interest, doc: a bounding box, type: string}
      epsg: {type: string, default: "EPSG:4326"}
      stac_items: {type: "Directory[]"}
    outputs:
      - {id: stac, outputSource: [collect/results], type: Directory}
    steps:
      detect: {run: "#detect", in: {item: stac_items}, out: [results], scatter: item, scatterMethod: dotproduct}
      collect: {run: "#collect", in: {found: detect/results, aoi: aoi, epsg: epsg}, out: [results]}
${tool("detect", LIST, "{item: {type: Directory, inputBinding: {position: 1}}}")}${tool(
        "collect",
        'cat "$3"/bands.txt "$4"/bands.txt > all.txt; echo "$1 $2" >> all.txt',
        "{aoi: {type: string, inputBinding: {position: 1}}, epsg: {type: string, inputBinding: {position: 2}}, found: {type: {type: array, items: Directory}, inputBinding: {position: 3}}}",
      )}`,
    },
    inputs: (scene) => ({ aoi: "13.9,46.4,14.1,46.6", stac_items: [stac(scene), stac(scene)] }),
    expected: /B03\.tif B08\.tif B03\.tif B08\.tif 13\.9,46\.4,14\.1,46\.6 EPSG:4326/,
  },
  {
    id: "s-expression",
    version: "0.0.2",
    files: {
      "s-expression.cwl": `$graph:
- baseCommand: [sh, -c, ${JSON.stringify(`${LIST}; echo "$3" >> bands.txt`)}, sh]
  class: CommandLineTool
  hints:
    DockerRequirement:
      dockerPull: eo/s-expression:dev0.0.2
  id: clt
  inputs:
    input_reference:
      inputBinding:
        position: 1
      type: Directory
    s_expression:
      inputBinding:
        position: 2
        prefix: --s-expression
      type: string
  outputs:
    results:
      outputBinding:
        glob: .
      type: Directory
  requirements:
    ResourceRequirement: {}
- class: Workflow
  doc: Applies s expressions to EO acquisitions
  id: s-expression
  inputs:
  - {doc: Input product reference, id: input_reference, label: Input, type: Directory}
  - {doc: s expression, id: s_expression, label: s expression, type: string}
  label: s expressions
  outputs:
  - id: wf_outputs
    outputSource:
    - step_1/results
    type: Directory
  steps:
    step_1:
      in:
        input_reference: input_reference
        s_expression: s_expression
      out:
      - results
      run: '#clt'
$namespaces:
  s: https://schema.org/
cwlVersion: v1.0
s:softwareVersion: 0.0.2
schemas:
- http://schema.org/version/9.0/schemaorg-current-http.rdf
`,
    },
    inputs: (scene) => ({ input_reference: stac(scene), s_expression: "(/ (- nir red) (+ nir red))" }),
    expected: /B03\.tif B08\.tif \(\/ \(- nir red\) \(\+ nir red\)\)/,
  },
  {
    id: "as-json",
    version: "1.1.0",
    files: {
      "app.json": JSON.stringify({
        cwlVersion: "v1.0",
        $namespaces: { s: "https://schema.org/" },
        "s:softwareVersion": "1.1.0",
        schemas: ["http://schema.org/version/9.0/schemaorg-current-http.rdf"],
        $graph: [
          {
            class: "Workflow",
            id: "as-json",
            requirements: [{ class: "ScatterFeatureRequirement" }],
            inputs: { bands: { type: "string[]", default: ["green", "nir"] } },
            outputs: [{ id: "said", type: "File[]", outputSource: ["node/said"] }],
            steps: { node: { run: "#node", scatter: "band", in: { band: "bands" }, out: ["said"] } },
          },
          {
            class: "CommandLineTool",
            id: "node",
            baseCommand: "echo",
            requirements: { InlineJavascriptRequirement: {} },
            inputs: { band: { type: "string", inputBinding: {} } },
            outputs: { said: { type: "stdout" } },
            stdout: '${ return inputs.band + ".txt"; }',
          },
        ],
      }),
    },
    inputs: () => ({}),
    expected: /green/,
  },
  {
    id: "ndvi",
    files: {
      "ndvi.cwl": `cwlVersion: v1.2
$namespaces: {s: "https://schema.org/"}
s:softwareVersion: 0.1.2
$graph:
  - class: Workflow
    id: "#ndvi"
    inputs: {spatial_extent: {type: "string[]", label: "[minLon, minLat, maxLon, maxLat]"}}
    outputs: {assets: {type: Directory, outputSource: process/results}}
    steps:
      process: {run: "#process", in: {spatial_extent: spatial_extent}, out: [results]}
${tool("process", 'echo "$@" > extent.txt', "{spatial_extent: {type: 'string[]', inputBinding: {position: 1, prefix: --extent}}}").replace("id: process", 'id: "#process"')}`,
    },
    inputs: () => ({ spatial_extent: ["13.9", "46.4", "14.1", "46.6"] }),
    expected: /--extent 13\.9 46\.4 14\.1 46\.6/,
  },
  {
    id: "main",
    fragment: "main",
    files: {
      "graph.cwl": `cwlVersion: v1.1
$graph:
${tool("stage", LIST, "{scene: {type: Directory, inputBinding: {position: 1}}}")}  - class: Workflow
    id: main
    inputs: {scene: Directory}
    outputs: {staged: {type: Directory, outputSource: stage/results}}
    steps: {stage: {run: "#stage", in: {scene: scene}, out: [results]}}
`,
    },
    inputs: (scene) => ({ scene: stac(scene) }),
    expected: /B03\.tif B08\.tif/,
  },
  {
    id: "packed",
    files: {
      "packed.cwl": JSON.stringify({
        $graph: [
          {
            class: "CommandLineTool",
            requirements: [
              {
                class: "SchemaDefRequirement",
                types: [
                  { name: "#types.yml/mode", type: "enum", symbols: ["#types.yml/mode/fast", "#types.yml/mode/slow"] },
                ],
              },
            ],
            baseCommand: ["echo"],
            inputs: [
              { type: "#types.yml/mode", inputBinding: { position: 1 }, id: "#crop.cwl/mode" },
              { type: ["null", "string"], inputBinding: { position: 2 }, id: "#crop.cwl/title" },
            ],
            id: "#crop.cwl",
            outputs: [{ type: "File", outputBinding: { glob: "said.txt" }, id: "#crop.cwl/said" }],
            stdout: "said.txt",
          },
          {
            class: "Workflow",
            requirements: [
              {
                class: "SchemaDefRequirement",
                types: [
                  { name: "#types.yml/mode", type: "enum", symbols: ["#types.yml/mode/fast", "#types.yml/mode/slow"] },
                ],
              },
            ],
            inputs: [
              { type: "#types.yml/mode", default: "fast", id: "#packed/mode" },
              { type: "string", id: "#packed/title" },
            ],
            outputs: [{ type: "File", outputSource: "#packed/crop/said", id: "#packed/said" }],
            steps: [
              {
                run: "#crop.cwl",
                in: [
                  { source: "#packed/mode", id: "#packed/crop/mode" },
                  { source: "#packed/title", id: "#packed/crop/title" },
                ],
                out: ["#packed/crop/said"],
                id: "#packed/crop",
              },
            ],
            id: "#packed",
          },
        ],
        cwlVersion: "v1.0",
      }),
    },
    inputs: () => ({ mode: "slow", title: "of today" }),
    expected: /slow of today/,
  },
  {
    id: "conditional",
    files: {
      "conditional.cwl": `cwlVersion: v1.2
$graph:
  - class: Workflow
    id: conditional
    requirements: {MultipleInputFeatureRequirement: {}, InlineJavascriptRequirement: {}}
    inputs: {sensor: {type: {type: enum, symbols: [optical, radar]}}, level: {type: int?, default: 2}}
    outputs: {said: {type: File, outputSource: [optical/said, radar/said], pickValue: the_only_non_null}}
    steps:
      optical: {run: "#say", when: '$(inputs.sensor == "optical")', in: {sensor: sensor, level: level}, out: [said]}
      radar: {run: "#say", when: '$(inputs.sensor == "radar")', in: {sensor: sensor, level: level}, out: [said]}
  - class: CommandLineTool
    id: say
    baseCommand: echo
    inputs: {sensor: {type: string, inputBinding: {position: 1}}, level: {type: int, inputBinding: {position: 2, prefix: -l, separate: false}}}
    outputs: {said: {type: stdout}}
`,
    },
    inputs: () => ({ sensor: "radar" }),
    expected: /radar -l2/,
  },
  {
    id: "hinted-extensions",
    version: "1.0.0",
    files: {
      "dask.cwl": `cwlVersion: v1.2
$namespaces:
  s: https://schema.org/
  calrissian: https://calrissian-cwl.github.io/schema#
  cwltool: http://commonwl.org/cwltool#
s:softwareVersion: 1.0.0
$graph:
  - class: Workflow
    id: hinted-extensions
    requirements: {InlineJavascriptRequirement: {}, ScatterFeatureRequirement: {}}
    inputs: {item-url: string}
    outputs: {stac-catalog: {outputSource: run-it/results, type: Directory}}
    steps: {run-it: {in: {item-url: item-url}, out: [results], run: "#run-it"}}
${tool(
  "run-it",
  'echo "$@" > said.txt',
  '{item-url: {type: string, inputBinding: {position: 1, prefix: "--item-url"}}}',
).replace("hints: {", 'hints: {"calrissian:DaskGatewayRequirement": {workerCores: 1, workerMemory: "4G"}, ')}`,
    },
    inputs: () => ({ "item-url": "https://stac.example/S2A" }),
    expected: /--item-url https:\/\/stac\.example\/S2A/,
  },
  {
    id: "nested-scatter",
    files: {
      "occurrence.cwl": `cwlVersion: v1.0
$graph:
  - class: Workflow
    id: nested-scatter
    requirements: [{class: ScatterFeatureRequirement}, {class: SubworkflowFeatureRequirement}, {class: MultipleInputFeatureRequirement}]
    inputs: {items: "string[]", bands: {type: "string[]", default: [green, nir]}}
    outputs: {said: {type: Directory, outputSource: stack/results}}
    steps:
      detect: {run: "#detect_bands", in: {item: items, bands: bands}, scatter: item, out: [crops]}
      stack: {run: "#stack", in: {crops: detect/crops}, out: [results]}
  - class: Workflow
    id: detect_bands
    requirements: [{class: ScatterFeatureRequirement}]
    inputs: {item: string, bands: "string[]"}
    outputs: {crops: {type: "File[]", outputSource: crop/crop}}
    steps: {crop: {run: "#crop", in: {item: item, band: bands}, scatter: band, out: [crop]}}
  - class: CommandLineTool
    id: crop
    baseCommand: echo
    inputs: {item: {type: string, inputBinding: {position: 1}}, band: {type: string, inputBinding: {position: 2}}}
    outputs: {crop: {type: stdout}}
    stdout: $(inputs.item)-$(inputs.band).txt
${tool("stack", 'cat "$@" > stack.txt', "{crops: {type: {type: array, items: {type: array, items: File}}, inputBinding: {position: 1}}}")}`,
    },
    inputs: () => ({ items: ["S2A", "S2B"] }),
    expected: /S2A green\s+S2A nir\s+S2B green\s+S2B nir/,
  },
  {
    id: "in-image",
    image: "docker.io/library/debian:stable-slim",
    files: {
      "image.cwl": `cwlVersion: v1.2
$graph:
  - class: Workflow
    id: in-image
    inputs: {scene: Directory}
    outputs: {staged: {type: Directory, outputSource: stage/results}}
    steps: {stage: {run: "#stage", in: {scene: scene}, out: [results]}}
  - class: CommandLineTool
    id: stage
    requirements: {DockerRequirement: {dockerPull: "debian:stable-slim"}, EnvVarRequirement: {envDef: {PYTHONPATH: /app}}}
    baseCommand: [sh, -c, ${JSON.stringify(`${LIST}`)}, sh]
    inputs: {scene: {type: Directory, inputBinding: {position: 1}}}
    outputs: {results: {type: Directory, outputBinding: {glob: .}}}
`,
    },
    inputs: (scene) => ({ scene: stac(scene) }),
    expected: /B03\.tif B08\.tif/,
  },
];
