import { type EoPackage, LIST, METADATA, stac } from "./eo-package.ts";

/**
 * Packages that are one process, or several documents.
 * @param base where the folders of all packages are served, each below its id
 */
export const eoDocuments = (base: string): readonly EoPackage[] => [
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
];
