import type { LinkMerge, Loop, LoopInput, PickValue, Requirement } from "../model/process.ts";
import { isObject } from "../model/values.ts";
import { checkFields } from "./fields.ts";
import { asExpression, asStrings, namedObjects } from "./maps.ts";
import type { NamedObject, RawObject } from "./maps.ts";
import { buildDefault } from "./parameters.ts";
import { report } from "./scope.ts";
import type { Scope } from "./scope.ts";
import { loopInputTables, loopTable } from "./tables.ts";
import { shortName } from "./uri.ts";

export const loopClass = "http://commonwl.org/cwltool#Loop";

/** The loop of a step: v1.3's own, or the reference runner's extension, which brings its condition with it. */
export function buildLoop(
  scope: Scope,
  { object, path, name }: NamedObject,
  requirements: readonly Requirement[],
): { readonly loop: Loop | undefined; readonly when: unknown } {
  const extension = requirements.find((item) => item.class === loopClass && item.required);
  const fields = extension?.fields ?? object;
  const fail = (member: string, message: string): void => report(scope, object, member, message, { path });
  if (requirements.some((item) => item.class === loopClass && !item.required)) {
    fail("hints", "cwltool:Loop changes what the step does, so it has to be a requirement");
  }
  if (extension !== undefined) {
    checkFields(scope, fields, "cwltool:Loop", loopTable, path);
    if (object["when"] !== undefined) {
      fail("when", "a step has a cwltool:Loop and a when; the condition of the loop is loopWhen");
    }
  }
  const when = extension === undefined ? object["when"] : fields["loopWhen"];
  if (extension === undefined && object["loop"] === undefined) {
    return { loop: undefined, when };
  }
  if (object["scatter"] !== undefined) {
    fail("scatter", `the step "${name}" loops and scatters; put one of the two into a workflow inside the step`);
  }
  if (when === undefined) {
    fail("loop", `the step "${name}" loops, and nothing says how long: it needs a when`);
  }
  const method = fields["outputMethod"];
  return {
    when,
    loop: {
      inputs: buildLoopInputs(scope, fields, path),
      outputMethod: method === "all" || method === "all_iterations" ? "all" : "last",
    },
  };
}

function buildLoopInputs(scope: Scope, fields: RawObject, path: string): LoopInput[] {
  const predicate = isObject(fields) && "loopWhen" in fields ? "loopSource" : "outputSource";
  return namedObjects(scope, fields, "loop", { subject: "id", predicate, path }).map(
    ({ name, object, path: location }) => {
      checkFields(scope, object, `the loop input "${name}"`, loopInputTables[predicate], location);
      const source = object[predicate];
      return {
        name,
        sources: asStrings(source).map(shortName),
        sourceIsList: Array.isArray(source),
        linkMerge: (object["linkMerge"] ?? undefined) as LinkMerge | undefined,
        pickValue: (object["pickValue"] ?? undefined) as PickValue | undefined,
        default: buildDefault(scope, object),
        valueFrom: asExpression(object["valueFrom"]),
      };
    },
  );
}
