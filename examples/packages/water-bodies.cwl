cwlVersion: v1.2
$namespaces: { s: https://schema.org/, swath: "urn:swath:" }
s:softwareVersion: 1.0.0
s:license: https://spdx.org/licenses/Apache-2.0
s:author: [{ class: s:Organization, s:name: Swath }]
$graph:
  - class: Workflow
    id: water-bodies
    label: Water bodies
    doc: >-
      Lakes, rivers and the sea in any number of optical scenes, found by the normalised difference water index (NDWI): a mask,
      the index and a picture a scene, in one STAC catalogue. Each item says how many square kilometres are water.
    hints:
      swath:StageIn: { assets: { stac_items: [$(inputs.green), $(inputs.nir)] } }
    requirements:
      ScatterFeatureRequirement: {}
    inputs:
      stac_items:
        type: Directory[]
        label: Scenes
        doc: STAC items, each with a green and a near-infrared band on one grid
      green:
        type: string
        default: green
        label: Green band
        doc: Key of the asset with the green band
      nir:
        type: string
        default: nir
        label: Near-infrared band
        doc: Key of the asset with the near-infrared band
      threshold:
        type: double
        default: 0
        label: Threshold
        doc: Pixels whose water index is above it are water; between -1 and 1
    steps:
      detect:
        run: "#water-scene"
        scatter: scene
        in: { scene: stac_items, green: green, nir: nir, threshold: threshold }
        out: [result]
      collect:
        run: "#water-collect"
        in: { scenes: detect/result }
        out: [results]
    outputs:
      results:
        type: Directory
        label: Water bodies
        doc: STAC catalogue with an item a scene
        outputSource: collect/results

  - class: CommandLineTool
    id: water-scene
    label: Water bodies of one scene
    doc: Writes the mask, the index, a picture and their STAC item
    hints:
      DockerRequirement: { dockerPull: "localhost/swath-examples:1.0.0" }
    requirements:
      ResourceRequirement: { coresMin: 1, ramMin: 1024, tmpdirMin: 1024, outdirMin: 1024 }
      NetworkAccess: { networkAccess: false }
    baseCommand: [swath-examples, water-bodies]
    inputs:
      scene: { type: Directory, inputBinding: { prefix: --scene } }
      green: { type: string, inputBinding: { prefix: --green } }
      nir: { type: string, inputBinding: { prefix: --nir } }
      threshold: { type: double, inputBinding: { prefix: --threshold } }
    outputs:
      result: { type: Directory, outputBinding: { glob: . } }

  - class: CommandLineTool
    id: water-collect
    label: One catalogue of all results
    doc: Copies the results of all scenes below one STAC catalogue
    hints:
      DockerRequirement: { dockerPull: "localhost/swath-examples:1.0.0" }
    requirements:
      ResourceRequirement: { coresMin: 1, ramMin: 256, outdirMin: 1024 }
      NetworkAccess: { networkAccess: false }
    baseCommand: [swath-examples, collect, --id, water-bodies]
    inputs:
      scenes:
        type: { type: array, items: Directory, inputBinding: { prefix: --scene } }
        inputBinding: { position: 1 }
    outputs:
      results: { type: Directory, outputBinding: { glob: . } }
