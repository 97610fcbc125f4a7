cwlVersion: v1.2
$namespaces: { s: https://schema.org/, swath: "urn:swath:" }
s:softwareVersion: 1.0.0
s:license: https://spdx.org/licenses/Apache-2.0
s:author: [{ class: s:Organization, s:name: Swath }]
$graph:
  - class: Workflow
    id: ndvi
    label: Vegetation index
    doc: >-
      The normalised difference vegetation index (NDVI) of any number of optical scenes: one Cloud-Optimised GeoTIFF and one
      picture a scene, in one STAC catalogue.
    hints:
      swath:StageIn: { assets: { scenes: [$(inputs.red), $(inputs.nir)] } }
    requirements:
      ScatterFeatureRequirement: {}
    inputs:
      scenes:
        type: Directory[]
        label: Scenes
        doc: STAC items, each with a red and a near-infrared band on one grid
      red:
        type: string
        default: red
        label: Red band
        doc: Key of the asset with the red band; with several bands in it also which one, as key#1 or key#name
      nir:
        type: string
        default: nir
        label: Near-infrared band
        doc: Key of the asset with the near-infrared band; with several bands in it also which one
      aoi:
        type: string?
        label: Area of interest
        doc: Longitudes and latitudes of the wanted part, as west,south,east,north; the whole scene when left out
    steps:
      index:
        run: "#ndvi-scene"
        scatter: scene
        in: { scene: scenes, red: red, nir: nir, aoi: aoi }
        out: [result]
      collect:
        run: "#ndvi-collect"
        in: { scenes: index/result }
        out: [results]
    outputs:
      results:
        type: Directory
        label: Vegetation index
        doc: STAC catalogue with an item a scene
        outputSource: collect/results

  - class: CommandLineTool
    id: ndvi-scene
    label: Vegetation index of one scene
    doc: Writes the index, a picture of it and their STAC item
    hints:
      DockerRequirement: { dockerPull: "localhost/swath-examples:1.0.0" }
    requirements:
      ResourceRequirement: { coresMin: 1, ramMin: 1024, tmpdirMin: 1024, outdirMin: 1024 }
      NetworkAccess: { networkAccess: false }
    baseCommand: [swath-examples, ndvi]
    inputs:
      scene: { type: Directory, inputBinding: { prefix: --scene } }
      red: { type: string, inputBinding: { prefix: --red } }
      nir: { type: string, inputBinding: { prefix: --nir } }
      aoi: { type: string?, inputBinding: { prefix: --aoi } }
    outputs:
      result: { type: Directory, outputBinding: { glob: . } }

  - class: CommandLineTool
    id: ndvi-collect
    label: One catalogue of all results
    doc: Copies the results of all scenes below one STAC catalogue
    hints:
      DockerRequirement: { dockerPull: "localhost/swath-examples:1.0.0" }
    requirements:
      ResourceRequirement: { coresMin: 1, ramMin: 256, outdirMin: 1024 }
      NetworkAccess: { networkAccess: false }
    baseCommand: [swath-examples, collect, --id, ndvi]
    inputs:
      scenes:
        type: { type: array, items: Directory, inputBinding: { prefix: --scene } }
        inputBinding: { position: 1 }
    outputs:
      results: { type: Directory, outputBinding: { glob: . } }
