import jsep from "jsep";
import { LRUCache } from "lru-cache";

import { invalidRequest } from "../errors.ts";

const MAX_EXPRESSION_CHARACTERS = 2000;
const MAX_NODES = 400;

/** A calculation for each pixel. */
export interface Expression {
  readonly text: string;
  /** Names of bands that it uses, in the order that `evaluate` takes them. */
  readonly variables: readonly string[];
  /** The name itself where the expression is nothing but one band: its samples can be used as they are. */
  readonly plain: string | undefined;
  /** Pixels whose inputs have no value there are left 0; the mask says so. */
  readonly evaluate: (inputs: readonly ArrayLike<number>[], output: Float32Array | Float64Array) => void;
}

/** Functions by name, as code over their arguments, and how many they take. */
const FUNCTIONS: Readonly<
  Record<
    string,
    { readonly least: number; readonly most: number; readonly toCode: (args: readonly string[]) => string }
  >
> = {
  ...Object.fromEntries(
    [
      "sqrt",
      "log",
      "log10",
      "log2",
      "exp",
      "abs",
      "sin",
      "cos",
      "tan",
      "asin",
      "acos",
      "atan",
      "tanh",
      "floor",
      "ceil",
      "round",
      "sign",
    ].map((name) => [name, { least: 1, most: 1, toCode: ([value]: readonly string[]) => `Math.${name}(${value})` }]),
  ),
  atan2: { least: 2, most: 2, toCode: ([y, x]) => `Math.atan2(${y}, ${x})` },
  pow: { least: 2, most: 2, toCode: ([base, power]) => `Math.pow(${base}, ${power})` },
  min: { least: 1, most: 16, toCode: (args) => `Math.min(${args.join(", ")})` },
  max: { least: 1, most: 16, toCode: (args) => `Math.max(${args.join(", ")})` },
  clamp: { least: 3, most: 3, toCode: ([value, least, most]) => `Math.min(Math.max(${value}, ${least}), ${most})` },
  where: { least: 3, most: 3, toCode: ([test, yes, no]) => `((${test}) ? (${yes}) : (${no}))` },
  /** Power to decibels. */
  db: { least: 1, most: 1, toCode: ([value]) => `(10 * Math.log10(${value}))` },
};

const BINARY: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    "+": "+",
    "-": "-",
    "*": "*",
    "/": "/",
    "%": "%",
    "**": "**",
    "<": "<",
    ">": ">",
    "<=": "<=",
    ">=": ">=",
    "==": "===",
    "!=": "!==",
    "&": "&",
    "|": "|",
    "&&": "&&",
    "||": "||",
    ">>": ">>",
    "<<": "<<",
  }),
);
const UNARY = new Set(["-", "+", "!", "~"]);

jsep.addBinaryOp("**", 11, true);

const MAX_COMPILED = 500;
/** Tiles have the same few again and again. */
const compiled = new LRUCache<string, Expression>({ max: MAX_COMPILED });

/**
 * Compiles a formula over bands, such as `(nir - red) / (nir + red)`. Only numbers, names, the operators and functions above are
 * made into code.
 * @throws {RasterError} `invalid-request` saying what is wrong
 */
export function compileExpression(text: string): Expression {
  let expression = compiled.get(text);
  if (expression === undefined) {
    expression = compile(text);
    compiled.set(text, expression);
  }
  return expression;
}

function compile(text: string): Expression {
  if (text.length > MAX_EXPRESSION_CHARACTERS) {
    throw invalidRequest(`The expression is longer than ${MAX_EXPRESSION_CHARACTERS} characters.`);
  }
  let tree: jsep.Expression;
  try {
    tree = jsep(text);
  } catch (error) {
    throw invalidRequest(`The expression "${text.slice(0, 100)}" cannot be read: ${(error as Error).message}.`);
  }
  const variables: string[] = [];
  let nodes = 0;
  const toCode = (node: jsep.Expression): string => {
    nodes += 1;
    if (nodes > MAX_NODES) {
      throw invalidRequest(`The expression has more than ${MAX_NODES} parts.`);
    }
    const each: unknown = node;
    switch (node.type) {
      case "Literal": {
        const { value } = each as { value: unknown };
        if (typeof value !== "number" || !Number.isFinite(value)) {
          throw invalidRequest(`The expression may contain numbers only, not ${JSON.stringify(value)}.`);
        }
        return `(${value})`;
      }
      case "Identifier": {
        const { name } = each as { name: string };
        if (!/^[A-Za-z_]\w*$/.test(name)) {
          throw invalidRequest(`"${name}" is not the name of a band.`);
        }
        if (!variables.includes(name)) {
          variables.push(name);
        }
        return `v${variables.indexOf(name)}[i]`;
      }
      case "UnaryExpression": {
        const { operator, argument } = each as { operator: string; argument: jsep.Expression };
        if (!UNARY.has(operator)) {
          throw invalidRequest(`The operator ${operator} is not allowed in expressions.`);
        }
        return `(${operator} ${toCode(argument)})`;
      }
      case "BinaryExpression":
      case "LogicalExpression": {
        const { operator, left, right } = each as { operator: string; left: jsep.Expression; right: jsep.Expression };
        const code = BINARY.get(operator);
        if (code === undefined) {
          throw invalidRequest(`The operator ${operator} is not allowed in expressions.`);
        }
        return `(${toCode(left)} ${code} ${toCode(right)})`;
      }
      case "ConditionalExpression": {
        const { test, consequent, alternate } = each as Record<"test" | "consequent" | "alternate", jsep.Expression>;
        return `(${toCode(test)} ? ${toCode(consequent)} : ${toCode(alternate)})`;
      }
      case "CallExpression": {
        const { callee, arguments: args } = each as {
          callee: { type: string; name?: string };
          arguments: jsep.Expression[];
        };
        const definition =
          callee.type === "Identifier" && Object.hasOwn(FUNCTIONS, callee.name ?? "")
            ? FUNCTIONS[callee.name ?? ""]
            : undefined;
        if (definition === undefined || args.length < definition.least || args.length > definition.most) {
          throw invalidRequest(
            `The expression calls something unknown or with a wrong number of values; functions: ${Object.keys(FUNCTIONS).join(", ")}.`,
          );
        }
        return definition.toCode(args.map(toCode));
      }
      default:
        throw invalidRequest(
          `The expression "${text.slice(0, 100)}" uses something that is not allowed (${node.type}).`,
        );
    }
  };
  const code = toCode(tree);
  const inputs = variables.map((_, index) => `const v${index} = inputs[${index}];`).join(" ");
  // Made of checked parts only: numbers, operators of the table, and names that became v0, v1, …
  // oxlint-disable-next-line typescript/no-implied-eval, no-new-func
  const evaluate = new Function(
    "inputs",
    "output",
    `${inputs} for (let i = 0; i < output.length; i += 1) { output[i] = ${code}; }`,
  ) as Expression["evaluate"];
  return { text, variables, plain: tree.type === "Identifier" ? variables[0] : undefined, evaluate };
}
