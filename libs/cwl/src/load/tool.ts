import { createHash } from "node:crypto";
import type { Binding, CommandLineTool, ExpressionTool, Operation, OutputParameter } from "../model/process.ts";
import { isObject } from "../model/values.ts";
import { buildBinding } from "./bindings.ts";
import { describe, join } from "./fields.ts";
import { asExpression, asList, namedObjects } from "./maps.ts";
import type { RawObject } from "./maps.ts";
import { buildOutput } from "./parameters.ts";
import type { ProcessHead } from "./head.ts";
import { report } from "./scope.ts";
import type { Scope } from "./scope.ts";
import { outputTable } from "./tables.ts";

export function buildTool(scope: Scope, raw: RawObject, head: ProcessHead, path: string): CommandLineTool {
  const streams = { stdout: asExpression(raw["stdout"]), stderr: asExpression(raw["stderr"]) };
  const outputs = namedObjects(scope, raw, "outputs", { subject: "id", predicate: "type", path }).map(
    (item): OutputParameter => {
      const output = buildOutput(scope, item, outputTable);
      const shortcut = item.object["type"];
      if (shortcut !== "stdout" && shortcut !== "stderr") {
        return output;
      }
      if (output.outputBinding !== undefined) {
        report(scope, item.object, "outputBinding", `an output of type ${shortcut} cannot have an outputBinding`, {
          path: item.path,
        });
      }
      // The name has to be the same on every run, so that results are reproducible.
      streams[shortcut] ??= createHash("sha1").update(`${head.name}/${shortcut}`).digest("hex");
      return {
        ...output,
        outputBinding: {
          glob: [streams[shortcut]],
          loadContents: false,
          loadListing: undefined,
          outputEval: undefined,
        },
      };
    },
  );
  return {
    class: "CommandLineTool",
    ...head,
    outputs,
    baseCommand: asList(raw["baseCommand"]).map((item) => asExpression(item) ?? ""),
    arguments: buildArguments(scope, raw, path),
    stdin: buildStdin(scope, raw, head, path),
    ...streams,
    successCodes: codes(scope, raw, "successCodes", path),
    temporaryFailCodes: codes(scope, raw, "temporaryFailCodes", path),
    permanentFailCodes: codes(scope, raw, "permanentFailCodes", path),
  };
}

function buildArguments(scope: Scope, raw: RawObject, path: string): (string | Binding)[] {
  const list = asList(raw["arguments"]);
  return list.flatMap((item, index): (string | Binding)[] => {
    const where = `${join(path, "arguments")}[${index}]`;
    if (isObject(item)) {
      return [buildBinding(scope, item, where)];
    }
    const text = asExpression(item);
    if (text === undefined) {
      report(scope, list, index, `an argument is ${describe(item)}`, {
        path: where,
        hint: "expected a string or an object",
      });
      return [];
    }
    return [text];
  });
}

function buildStdin(scope: Scope, raw: RawObject, head: ProcessHead, path: string): string | undefined {
  const shortcut = namedObjects({ ...scope, problems: [] }, raw, "inputs", {
    subject: "id",
    predicate: "type",
    path,
  }).find((item) => item.object["type"] === "stdin");
  if (shortcut === undefined) {
    return asExpression(raw["stdin"]);
  }
  if (raw["stdin"] !== undefined) {
    report(scope, raw, "stdin", `"stdin" is set and the input "${shortcut.name}" has type stdin as well`, {
      path,
      hint: "keep one",
    });
  }
  if (!head.inputs.some((input) => input.name === shortcut.name)) {
    return undefined;
  }
  return `$(inputs[${JSON.stringify(shortcut.name)}].path)`;
}

function codes(scope: Scope, raw: RawObject, member: string, path: string): number[] {
  return asList(raw[member]).filter((item): item is number => {
    if (!Number.isInteger(item)) {
      report(scope, raw, member, `an exit code is ${describe(item)}`, {
        path: join(path, member),
        hint: "expected an integer",
      });
    }
    return Number.isInteger(item);
  });
}

export function buildExpressionTool(scope: Scope, raw: RawObject, head: ProcessHead, path: string): ExpressionTool {
  return {
    class: "ExpressionTool",
    ...head,
    outputs: plainOutputs(scope, raw, path),
    expression: asExpression(raw["expression"]) ?? "",
  };
}

export function buildOperation(scope: Scope, raw: RawObject, head: ProcessHead, path: string): Operation {
  return { class: "Operation", ...head, outputs: plainOutputs(scope, raw, path) };
}

function plainOutputs(scope: Scope, raw: RawObject, path: string): OutputParameter[] {
  return namedObjects(scope, raw, "outputs", { subject: "id", predicate: "type", path }).map((item) =>
    buildOutput(scope, item, outputTable),
  );
}
