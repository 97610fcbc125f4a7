cwlVersion: v1.2
class: CommandLineTool
requirements: [{class: InlineJavascriptRequirement, expressionLib: ['${', '}', '$(']}, {class: ResourceRequirement, coresMin: '$(', ramMin: '${return'}]
baseCommand: '$(inputs'
inputs: {a: {type: '$(self)', inputBinding: {position: '${', valueFrom: '$((((('}}}
outputs: {o: {type: File, outputBinding: {glob: '$(', outputEval: '${{{{'}}}
