import { CwlError } from "../errors.ts";
import type { Evaluator } from "../expressions/evaluate.ts";
import type { ExpressionContext } from "../expressions/parameter-reference.ts";
import type { FileValue, Value } from "../model/values.ts";
import type { Ontology } from "./ontology.ts";

/** Checks File formats against what parameters accept, with the ontologies that the document names. */
export class FormatChecker {
  private readonly load: () => Promise<Ontology>;
  private loading: Promise<Ontology> | undefined;

  /** `load` reads the ontologies; it is called when a format is not equal to what is wanted, and once at most. */
  constructor(load: () => Promise<Ontology>) {
    this.load = load;
    this.loading = undefined;
  }

  async check(
    file: FileValue,
    wanted: readonly string[] | undefined,
    what: string,
    evaluator: Evaluator,
    context: Omit<ExpressionContext, "self">,
  ): Promise<void> {
    if (wanted === undefined) {
      return;
    }
    const accepted: string[] = [];
    for (const item of wanted) {
      const value = await evaluator.evaluate(item, { ...context, self: file });
      accepted.push(...texts(value, what));
    }
    if (accepted.length === 0) {
      return;
    }
    const given = file.format;
    if (given === undefined) {
      throw new CwlError(
        "invalid-inputs",
        `the input "${what}" must say its format (one of ${accepted.join(", ")}), but ${file.basename ?? "the file"} has none`,
      );
    }
    if (accepted.includes(given)) {
      return;
    }
    this.loading ??= this.load();
    const ontology = await this.loading;
    if (!accepted.some((item) => ontology.isA(given, item))) {
      throw new CwlError("invalid-inputs", `the input "${what}" has format ${given}; accepted: ${accepted.join(", ")}`);
    }
  }
}

function texts(value: Value, what: string): string[] {
  const list = Array.isArray(value) ? (value as readonly Value[]) : [value];
  return list.map((item) => {
    if (typeof item !== "string") {
      throw new CwlError("expression", `the format of "${what}" must be an IRI`);
    }
    return item;
  });
}
