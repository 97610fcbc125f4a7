cwlVersion: v1.2
class: ExpressionTool
expression: '${
return {
"a": "}
'
inputs: {

[: "
