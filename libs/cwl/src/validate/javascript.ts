import type { Problem } from "../errors.ts";
import { parseReference } from "../expressions/parameter-reference.ts";
import { mayHoldExpression, scanExpressions } from "../expressions/scan.ts";
import { asStrings } from "../load/maps.ts";
import type { Process, Requirement } from "../model/process.ts";
import type { Found } from "./find-expressions.ts";
import { expressionsOf } from "./find-expressions.ts";

interface Source {
  readonly code: string;
  readonly found: Found;
}

/**
 * Has the JavaScript of a process and of all that it runs read by the engine that will run it, without running it. Needs
 * a thread, so it is part of validation, not of loading.
 */
export async function checkJavascript(process: Process): Promise<Problem[]> {
  const sources: Source[] = [];
  collect(process, false, "", sources, new Set());
  if (sources.length === 0) {
    return [];
  }
  const { sandboxPool } = await import("../expressions/sandbox-pool.ts");
  const messages = await sandboxPool.check(sources.map(({ code }) => code));
  return messages.flatMap((message, index): Problem[] => {
    const found = sources[index]?.found;
    return message === undefined || found === undefined
      ? []
      : [{ severity: "error", message, path: found.what, ...found.location }];
  });
}

function collect(process: Process, inherited: boolean, path: string, sources: Source[], seen: Set<Process>): void {
  if (seen.has(process)) {
    return;
  }
  seen.add(process);
  const own = [...process.requirements, ...process.hints];
  const javascript = inherited || own.some(isJavascript);
  const add = (found: Found): void => {
    for (const code of javascript ? codesOf(found.text, process) : []) {
      sources.push({ code, found: { ...found, what: path + found.what } });
    }
  };
  for (const requirement of own.filter(isJavascript)) {
    for (const code of asStrings(requirement.fields["expressionLib"])) {
      sources.push({ code, found: { text: code, what: `${path}expressionLib`, location: requirement.location } });
    }
  }
  expressionsOf(process).forEach(add);
  for (const step of process.class === "Workflow" ? process.steps : []) {
    const inStep = javascript || [...step.requirements, ...step.hints].some(isJavascript);
    collect(step.run, inStep, `${path}steps.${step.name}.run.`, sources, seen);
  }
}

function isJavascript(requirement: Requirement): boolean {
  return requirement.class === "InlineJavascriptRequirement";
}

function codesOf(text: string | undefined, process: Process): string[] {
  if (text === undefined || !mayHoldExpression(text)) {
    return [];
  }
  try {
    const escaping = process.version >= "v1.2" ? "v1.2" : "v1.0";
    return scanExpressions(text.trim(), { javascript: true, escaping }).flatMap((piece) =>
      piece.kind === "text" || (piece.kind === "reference" && parseReference(piece.code) !== undefined)
        ? []
        : [piece.kind === "reference" ? `(${piece.code}\n)` : `(function () {"use strict"; ${piece.code}\n})`],
    );
  } catch {
    // Brackets without an end are told by the other checks.
    return [];
  }
}
