cwlVersion: v1.2
class: CommandLineTool
requirements: {SchemaDefRequirement: {types: [{$import: '#a'}, {$import: ''}]}}
inputs: []
outputs: []
