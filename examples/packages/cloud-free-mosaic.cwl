cwlVersion: v1.2
$namespaces: { s: https://schema.org/, swath: "urn:swath:" }
s:softwareVersion: 1.0.0
s:license: https://spdx.org/licenses/Apache-2.0
s:author: [{ class: s:Organization, s:name: Swath }]
$graph:
  - class: Workflow
    id: cloud-free-mosaic
    label: Cloud-free mosaic
    doc: >-
      Two bands of Sentinel-2 scenes of several dates or neighbouring tiles, cropped to a box and put together without clouds:
      each pixel comes from the least cloudy scene in which the scene classification calls it clear.
    hints:
      swath:StageIn: { assets: { scenes: [$(inputs.bands), $(inputs.classes)] } }
    requirements:
      ScatterFeatureRequirement: {}
      StepInputExpressionRequirement: {}
      InlineJavascriptRequirement: {}
    inputs:
      scenes:
        type: Directory[]
        label: Scenes
        doc: STAC items with the two bands and a scene classification (SCL)
      bbox:
        type: string
        label: Box
        doc: Longitudes and latitudes of the wanted area, as west,south,east,north
      epsg:
        type: int
        default: 32633
        label: Reference system
        doc: EPSG code of the mosaic; one with lengths, such as a UTM zone
      resolution:
        type: double
        default: 120
        label: Resolution
        doc: Length of a pixel in the units of the reference system
      offset:
        type: double
        default: 0
        label: Offset of the grid
        doc: >-
          How far the edges of pixels lie from multiples of the resolution; the scenes' own offset keeps their pixels as they are
      bands:
        type: string[]
        default: [red, nir]
        label: Bands
        doc: Keys of the two assets to put together
      classes:
        type: string
        default: scl
        label: Scene classification
        doc: Key of the asset that says where clouds are
    steps:
      crop:
        run: "#crop-scene"
        scatter: scene
        in:
          scene: scenes
          bbox: bbox
          epsg: epsg
          resolution: resolution
          offset: offset
          bands: bands
          classes: classes
          assets: { valueFrom: "$(inputs.bands.concat(inputs.classes))" }
        out: [result]
      mosaic:
        run: "#mosaic-scenes"
        in: { scenes: crop/result, bands: bands, classes: classes }
        out: [results]
    outputs:
      results:
        type: Directory
        label: Mosaic
        doc: STAC catalogue with one item
        outputSource: mosaic/results

  - class: CommandLineTool
    id: crop-scene
    label: Crop of one scene
    doc: Brings the part of a scene in the box to the grid of the mosaic
    hints:
      DockerRequirement: { dockerPull: "localhost/swath-examples:1.0.0" }
    requirements:
      ResourceRequirement: { coresMin: 1, ramMin: 1024, tmpdirMin: 1024, outdirMin: 1024 }
      NetworkAccess: { networkAccess: false }
    baseCommand: [swath-examples, crop]
    inputs:
      scene: { type: Directory, inputBinding: { prefix: --scene } }
      bbox: { type: string, inputBinding: { prefix: --bbox } }
      epsg: { type: int, inputBinding: { prefix: --epsg } }
      resolution: { type: double, inputBinding: { prefix: --resolution } }
      offset: { type: double, inputBinding: { prefix: --offset } }
      assets: { type: "string[]", inputBinding: { prefix: --assets, itemSeparator: "," } }
    outputs:
      result: { type: Directory, outputBinding: { glob: . } }

  - class: CommandLineTool
    id: mosaic-scenes
    label: Mosaic of cropped scenes
    doc: Takes each pixel from the least cloudy scene in which it is clear
    hints:
      DockerRequirement: { dockerPull: "localhost/swath-examples:1.0.0" }
    requirements:
      ResourceRequirement: { coresMin: 1, ramMin: 2048, tmpdirMin: 1024, outdirMin: 1024 }
      NetworkAccess: { networkAccess: false }
    baseCommand: [swath-examples, mosaic]
    inputs:
      scenes:
        type: { type: array, items: Directory, inputBinding: { prefix: --scene } }
        inputBinding: { position: 1 }
      bands: { type: "string[]", inputBinding: { prefix: --bands, itemSeparator: "," } }
      classes: { type: string, inputBinding: { prefix: --classes } }
    outputs:
      results: { type: Directory, outputBinding: { glob: . } }
