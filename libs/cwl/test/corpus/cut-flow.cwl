cwlVersion: v1.2
class: CommandLineTool
baseCommand: [echo,
"a
inputs: {x: {type: [int, 'str
outputs: []
