cwlVersion: v1.2
class: CommandLineTool
requirements: {SchemaDefRequirement: {types: [{name: r, type: record, fields: {self: ['null', r, {type: array, items: r}]}}]}}
inputs: {x: r}
outputs: []
