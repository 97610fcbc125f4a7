cwlVersion: v1.2
class: CommandLineTool
inputs: {'': int, '../x': int, 'a/b#c?d': int, '__proto__': int, constructor: int, toString: File}
outputs: {__proto__: {type: File, outputBinding: {glob: '../../../etc/passwd'}}}
