cwlVersion: v1.2
class: CommandLineTool
inputs: {a: 'int[][][]????', b: [], c: [[[]]], d: {type: {type: {type: array}}}, e: {type: enum}, f: {type: {type: enum, symbols: [[], {}]}}}
outputs: {o: {type: [{}]}}
