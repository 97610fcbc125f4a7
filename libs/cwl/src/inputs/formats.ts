import { CwlError } from "../errors.ts";
import type { Evaluator } from "../expressions/evaluate.ts";
import type { ExpressionContext } from "../expressions/parameter-reference.ts";
import type { FileValue, Value } from "../model/values.ts";
import type { Ontology } from "./ontology.ts";

/** What is known of how formats are related. */
export interface FormatRelations {
  readonly ontology: Ontology;
  /** Addresses of ontologies that could not be read. */
  readonly missing: readonly string[];
}

/** Checks File formats against what parameters accept, with the ontologies that the document names. */
export class FormatChecker {
  private readonly load: () => Promise<FormatRelations>;
  private loading: Promise<FormatRelations> | undefined;

  /** `load` reads the ontologies; it is called when a format is not equal to what is wanted, and once at most. */
  constructor(load: () => Promise<FormatRelations>) {
    this.load = load;
    this.loading = undefined;
  }

  async check(
    file: FileValue,
    requested: readonly string[] | undefined,
    what: string,
    evaluator: Evaluator,
    context: Omit<ExpressionContext, "self">,
  ): Promise<void> {
    if (requested === undefined) {
      return;
    }
    const accepted: string[] = [];
    for (const item of requested) {
      const value = await evaluator.evaluate(item, { ...context, self: file });
      accepted.push(...texts(value, what));
    }
    if (accepted.length === 0) {
      return;
    }
    const provided = file.format;
    if (provided === undefined) {
      throw new CwlError(
        "invalid-inputs",
        `the input "${what}" must say its format (one of ${accepted.join(", ")}), but ${file.basename ?? "the file"} has none`,
      );
    }
    if (accepted.includes(provided)) {
      return;
    }
    this.loading ??= this.load();
    const { ontology, missing } = await this.loading;
    if (!accepted.some((item) => ontology.isA(provided, item))) {
      const doubt =
        missing.length === 0
          ? ""
          : ` (whether it is one of them could not be seen in ${missing.join(", ")}; see the log)`;
      throw new CwlError(
        "invalid-inputs",
        `the input "${what}" has format ${provided}; accepted: ${accepted.join(", ")}${doubt}`,
      );
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
