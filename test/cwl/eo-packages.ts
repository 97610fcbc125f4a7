/** Packages in the forms that those of the field have: how they are written, and what they are made of. The tools are small. */
export interface EoPackage {
  /** Documents below the address that the package is served at; the first is the package. */
  readonly files: Readonly<Record<string, string>>;
  /** What of the first document is meant. */
  readonly fragment?: string;
  readonly id: string;
  readonly version?: string;
  readonly inputs: (scene: string) => Readonly<Record<string, unknown>>;
  /** What one of the files of the results, or the results themselves, have in them. */
  readonly expected: RegExp;
  /** An image that has to be on this machine. */
  readonly image?: string;
}

const stac = (scene: string) => ({ href: scene, type: "application/geo+json" });
const METADATA = `$namespaces:
  s: https://schema.org/
s:softwareVersion: 1.4.1
s:name: Water bodies
s:dateCreated: '2022-09-01'
s:codeRepository: https://code.example/water-bodies
s:license: {s:identifier: CC-BY-SA-4.0, s:url: https://creativecommons.org/licenses/by-sa/4.0/}
s:author:
  - class: s:Person
    s:name: Doe, Jane
    s:email: jane.doe@acme.example
    s:affiliation: {s:name: ACME}
s:keywords: [water, NDWI]
s:softwareRequirements: [container runtime, cwl runner]
`;
/** Says which bands a staged scene has. */
const LIST = "find -L \"$1\" -name '*.tif' -exec basename {} ';' | sort | tr '\\n' ' ' > bands.txt";
const tool = (id: string, script: string, inputs: string, more = ""): string => `  - class: CommandLineTool
    id: ${id}
    hints: {DockerRequirement: {dockerPull: registry.example/eo/${id}:1.0.1}}
    requirements:
      EnvVarRequirement: {envDef: {PATH: "/srv/conda/envs/env_${id}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}}
      ResourceRequirement: {}
      InlineJavascriptRequirement: {}
${more}    baseCommand: [sh, -c, ${JSON.stringify(script)}, ${id}]
    arguments: []
    inputs: ${inputs}
    outputs: {results: {type: Directory, outputBinding: {glob: .}}}
`;

/** @param base where the folders of all packages are served, each below its id */
export const eoPackages = (base: string): readonly EoPackage[] => [
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
    id: "custom-types",
    files: {
      "app/main.cwl": `cwlVersion: v1.2
$graph:
  - class: Workflow
    id: custom-types
    requirements:
      - class: InlineJavascriptRequirement
      - class: SchemaDefRequirement
        types:
          - $import: ${base}/custom-types/schemas/string_format.yaml
          - $import: eo-types.yaml
    inputs:
      item: {type: "${base}/custom-types/schemas/string_format.yaml#URI"}
      epsg: {type: 'eo-types.yaml#EPSGCode', default: "4326"}
      bands: {type: {type: array, items: 'eo-types.yaml#Band'}}
    outputs: {said: {type: File, outputSource: crop/said}}
    steps: {crop: {run: "#crop", in: {item: item, epsg: epsg, bands: bands}, out: [said]}}
  - class: CommandLineTool
    id: crop
    requirements:
      InlineJavascriptRequirement: {}
      SchemaDefRequirement:
        types:
          - $import: ${base}/custom-types/schemas/string_format.yaml
          - $import: eo-types.yaml
    baseCommand: echo
    inputs:
      item:
        type: ${base}/custom-types/schemas/string_format.yaml#URI
        inputBinding: {position: 1, prefix: --input-item, valueFrom: $(self.value)}
      epsg: {type: eo-types.yaml#EPSGCode, inputBinding: {position: 2, prefix: --epsg}}
      bands: {type: {type: array, items: eo-types.yaml#Band}, inputBinding: {position: 3}}
    outputs: {said: {type: stdout}}
    stdout: said.txt
`,
      "app/eo-types.yaml": `- name: EPSGCode
  type: enum
  symbols: ["4326", "3857"]
- {name: Band, type: enum, symbols: [green, nir]}
`,
      "schemas/string_format.yaml": `- name: URI
  type: record
  fields: [{name: value, type: string}]
- name: Date
  type: record
  fields: {value: string}
`,
    },
    inputs: () => ({ item: { value: "https://stac.example/items/S2A" }, epsg: "3857", bands: ["green", "nir"] }),
    expected: /--input-item https:\/\/stac\.example\/items\/S2A --epsg 3857 green nir/,
  },
  {
    id: "several-documents",
    files: {
      "workflows/main.cwl": `cwlVersion: v1.2
class: Workflow
id: several-documents
requirements: {SubworkflowFeatureRequirement: {}, ScatterFeatureRequirement: {}, StepInputExpressionRequirement: {}}
inputs: {scene: Directory, names: {type: "string[]", default: [a, b]}}
outputs: {said: {type: "File[]", outputSource: each/said}}
steps:
  each:
    run: per-name.cwl
    scatter: name
    in: {scene: scene, name: names, title: {valueFrom: "of $(inputs.name)"}}
    out: [said]
`,
      "workflows/per-name.cwl": `cwlVersion: v1.1
class: Workflow
inputs: {scene: Directory, name: string, title: string}
outputs: {said: {type: File, outputSource: say/said}}
steps:
  list: {run: "${base}/several-documents/tools/list.cwl", in: {scene: scene}, out: [bands]}
  say: {run: ../tools/say.cwl, in: {bands: list/bands, title: title}, out: [said]}
`,
      "tools/list.cwl": `#!/usr/bin/env cwl-runner
class: CommandLineTool
cwlVersion: v1.0
baseCommand: [sh, -c, ${JSON.stringify(LIST)}, sh]
inputs: [{id: scene, type: Directory, inputBinding: {position: 1}}]
outputs: [{id: bands, type: File, outputBinding: {glob: bands.txt}}]
`,
      "tools/say.cwl": `class: CommandLineTool
cwlVersion: v1.2
requirements:
  InlineJavascriptRequirement: {expressionLib: [{$include: lib.js}]}
  InitialWorkDirRequirement: {listing: [{entryname: say.sh, entry: {$include: say.sh}}]}
baseCommand: [sh, say.sh]
inputs: {bands: {type: File, inputBinding: {position: 1}}, title: {type: string, inputBinding: {position: 2, valueFrom: $(shout(self))}}}
outputs: {said: stdout}
`,
      "tools/lib.js": "function shout(text) { return text.toUpperCase(); }",
      "tools/say.sh": 'cat "$1"; echo "$2"\n',
    },
    inputs: (scene) => ({ scene: stac(scene) }),
    expected: /B03\.tif B08\.tif OF [AB]/,
  },
  {
    id: "formats",
    version: "1.4.1",
    files: {
      "formats.cwl": `cwlVersion: v1.0
class: CommandLineTool
id: formats
${METADATA.replace("$namespaces:", "$namespaces:\n  f: https://formats.example/")}$schemas:
  - ${base}/formats/schemaorg.rdf
  - ontology.ttl
baseCommand: cat
inputs: {scene: {type: File, format: "f:raster", inputBinding: {position: 1}}}
outputs: {said: {type: stdout, format: "f:text"}}
stdout: said.txt
`,
      "schemaorg.rdf": `<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
  <rdfs:Class rdf:about="https://schema.org/Bridge"><rdfs:subClassOf rdf:resource="https://schema.org/CivicStructure"/></rdfs:Class>
</rdf:RDF>`,
      "ontology.ttl":
        "<https://formats.example/geotiff> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <https://formats.example/raster> .",
    },
    inputs: () => ({ scene: { href: "data:text/plain,pixels", format: "https://formats.example/geotiff" } }),
    expected: /pixels/,
  },
  {
    id: "software",
    version: "2.0.0-rc1",
    files: {
      "software.cwl": `cwlVersion: v1.2
class: CommandLineTool
id: software
label: Crop
$namespaces: {s: "http://schema.org/", edam: "http://edamontology.org/"}
s:softwareVersion: 2.0.0-rc1
s:mainEntity: {$import: about.yaml}
hints:
  - class: SoftwareRequirement
    packages:
      gdal: {specs: ["https://anaconda.org/conda-forge/gdal", "https://bio.tools/gdal"], version: ["3.8", "3.9"]}
      rasterio: {version: [">=1.3"]}
  - class: DockerRequirement
    dockerPull: registry.example/eo/crop@sha256:${"a".repeat(64)}
  - class: ResourceRequirement
    coresMax: 1
    ramMax: 512
baseCommand: [echo, cropped]
inputs: []
outputs: {said: {type: stdout}}
`,
      "about.yaml": "class: s:SoftwareSourceCode\ns:name: crop\ns:about: >\n  crops rasters\n",
    },
    inputs: () => ({}),
    expected: /cropped/,
  },
  {
    id: "plain-tool",
    files: {
      "tool.cwl": `#!/usr/bin/env cwl-runner
cwlVersion: v1.1
class: CommandLineTool
id: plain-tool
hints: {NetworkAccess: {networkAccess: false}, WorkReuse: {enableReuse: false}, ToolTimeLimit: {timelimit: 60}}
baseCommand: [sh, -c, 'for band in 03 08; do cp "$0"/*/B$band.tif . 2>/dev/null || find -L "$0" -name B$band.tif -exec cp {} . ";"; done']
inputs:
  scene: {type: Directory, loadListing: shallow_listing, inputBinding: {position: 1}}
outputs:
  bands: {type: "File[]", outputBinding: {glob: "*.tif"}}
`,
    },
    inputs: (scene) => ({ scene: stac(scene) }),
    expected: /pixels of B08/,
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
    id: "inline-script",
    files: {
      "stage.cwl": `cwlVersion: v1.2
class: CommandLineTool
id: inline-script
inputs: {reference: string}
outputs: {staged: {type: Directory, outputBinding: {glob: out}}}
baseCommand: [sh, stage.sh]
arguments:
- $( inputs.reference )
hints: {DockerRequirement: {dockerPull: registry.example/eo/stage:1.0.0}}
requirements:
  InlineJavascriptRequirement: {}
  InitialWorkDirRequirement:
    listing:
      - entryname: stage.sh
        entry: |-
          mkdir -p out/S2A
          item="$1"
          echo "pixels of $item" > out/S2A/otsu.tif
          cat > out/catalog.json << 'END'
          {"type": "Catalog", "stac_version": "1.0.0", "id": "catalog", "description": "of today",
           "links": [{"rel": "item", "href": "./S2A/S2A.json", "type": "application/geo+json"}]}
          END
          cat > out/S2A/S2A.json << 'END'
          {"type": "Feature", "stac_version": "1.0.0", "id": "S2A", "geometry": null, "properties": {"datetime": "2021-07-13T19:03:24Z"},
           "links": [], "assets": {"data": {"href": "./otsu.tif", "type": "image/tiff", "roles": ["data"]}}}
          END
`,
    },
    inputs: () => ({ reference: "https://stac.example/S2A" }),
    expected: /pixels of https:\/\/stac\.example\/S2A/,
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
