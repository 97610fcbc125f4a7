import { Evaluator } from "../expressions/evaluate.ts";
import { asStrings } from "../load/maps.ts";
import type { CwlVersion } from "../model/process.ts";
import type { LoadListing } from "../model/types.ts";
import type { RunContext } from "./context.ts";
import type { Requirements } from "./requirements.ts";

/** An evaluator under the requirements in force. */
export function makeEvaluator(
  requirements: Requirements,
  version: CwlVersion,
  { sandbox, emit }: Pick<RunContext, "sandbox" | "emit">,
  step: string,
): Evaluator {
  const javascript = requirements.find("InlineJavascriptRequirement");
  return new Evaluator({
    javascript: javascript !== undefined,
    library: asStrings(javascript?.fields["expressionLib"]),
    version,
    limits: sandbox,
    onLog: (text) => emit({ type: "step-log", step, text }),
  });
}

export function listingInForce(requirements: Requirements): LoadListing {
  return (
    (requirements.find("LoadListingRequirement")?.fields["loadListing"] as LoadListing | undefined) ?? "no_listing"
  );
}
