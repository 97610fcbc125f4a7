import type { Problem } from "../errors.ts";
import { messageOf } from "../errors.ts";
import { parseReference } from "../expressions/parameter-reference.ts";
import { mayHoldExpression, scanExpressions } from "../expressions/scan.ts";
import type { Process, Requirement } from "../model/process.ts";
import { toolExpressions } from "./find-expressions.ts";
import type { Found } from "./find-expressions.ts";

/**
 * Checks the expressions of a process and of all that it runs without running them: brackets that are not closed,
 * JavaScript where InlineJavascriptRequirement is missing, names that no expression sees.
 */
export function checkExpressions(process: Process, problems: Problem[]): void {
  visit(process, false, "", problems, new Set());
}

function visit(process: Process, inherited: boolean, path: string, problems: Problem[], seen: Set<Process>): void {
  if (seen.has(process)) {
    return;
  }
  seen.add(process);
  const javascript = inherited || hasJavascript(process);
  const check = (found: Found, allowed: boolean): void => {
    const problem = checkOne(found, allowed, process);
    if (problem !== undefined) {
      problems.push({ ...problem, path: path + found.what, ...found.location });
    }
  };
  if (process.class === "CommandLineTool") {
    for (const found of toolExpressions(process)) {
      check(found, javascript);
    }
  } else if (process.class === "ExpressionTool") {
    check({ text: process.expression, what: "expression", location: process.location }, javascript);
  } else if (process.class === "Workflow") {
    for (const step of process.steps) {
      const inStep = javascript || hasJavascript(step);
      const where = `steps.${step.name}`;
      check({ text: step.when, what: `${where}.when`, location: step.location }, inStep);
      for (const input of step.inputs) {
        check({ text: input.valueFrom, what: `${where}.in.${input.name}.valueFrom`, location: input.location }, inStep);
      }
      visit(step.run, inStep, `${path}${where}.run.`, problems, seen);
    }
  }
}

function hasJavascript(level: {
  readonly requirements: readonly Requirement[];
  readonly hints: readonly Requirement[];
}): boolean {
  return [...level.requirements, ...level.hints].some((item) => item.class === "InlineJavascriptRequirement");
}

function checkOne(
  { text }: Found,
  javascript: boolean,
  process: Process,
): Pick<Problem, "severity" | "message" | "hint"> | undefined {
  if (text === undefined || !mayHoldExpression(text)) {
    return undefined;
  }
  let pieces;
  try {
    pieces = scanExpressions(text.trim(), { javascript, escaping: process.version >= "v1.2" ? "v1.2" : "v1.0" });
  } catch (error) {
    return {
      severity: "error",
      message: messageOf(error),
      hint: "close its bracket, or write \\$ for a plain dollar sign",
    };
  }
  for (const piece of pieces) {
    const reference = piece.kind === "reference" ? parseReference(piece.code) : undefined;
    if (piece.kind === "text" || javascript) {
      continue;
    }
    if (reference === undefined) {
      // A workflow that runs this process may ask for it; where none does, the run says so.
      return {
        severity: "warning",
        message: `${piece.source} is JavaScript, and this process does not ask for it`,
        hint: 'add "InlineJavascriptRequirement: {}" to its requirements',
      };
    }
    if (!["inputs", "self", "runtime", "null"].includes(reference[0])) {
      return {
        severity: "warning",
        message: `${piece.source} names "${reference[0]}"`,
        hint: "an expression sees inputs, self and runtime",
      };
    }
    const [root, input] = reference;
    const known = process.class === "Workflow" ? undefined : process.inputs.map((item) => item.name);
    if (root === "inputs" && typeof input === "string" && known !== undefined && !known.includes(input)) {
      return {
        severity: "warning",
        message: `${piece.source} names the input "${input}", which ${process.name} does not have`,
        hint: known.length === 0 ? "it has no inputs" : `it has ${known.join(", ")}`,
      };
    }
  }
  return undefined;
}
