import { OwsError } from "./ows-error.ts";

/** Parameters of a request, by names in upper case: OGC web services do not tell cases apart. */
export class Kvp {
  readonly #values: ReadonlyMap<string, string>;
  readonly #lists: ReadonlyMap<string, readonly string[]>;

  constructor(query: Readonly<Record<string, unknown>>) {
    this.#lists = new Map(
      Object.entries(query).map(([name, value]) => [
        name.toUpperCase(),
        (Array.isArray(value) ? (value as unknown[]) : [value]).filter((each) => typeof each === "string"),
      ]),
    );
    this.#values = new Map(
      Object.entries(query).flatMap(([name, value]): readonly (readonly [string, string])[] => {
        const first: unknown = Array.isArray(value) ? value[0] : value;
        return typeof first === "string" ? [[name.toUpperCase(), first]] : [];
      }),
    );
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** All values of a parameter, and of `<name>0`, `<name>1` …, by which some clients repeat it. */
  all(name: string): readonly string[] {
    return [...this.#lists].flatMap(([key, values]) =>
      key === name || (key.startsWith(name) && /^\d+$/.test(key.slice(name.length))) ? values : [],
    );
  }

  /** @throws {OwsError} `MissingParameterValue` */
  require(name: string): string {
    const value = this.#values.get(name);
    if (value === undefined) {
      throw new OwsError("MissingParameterValue", `The parameter ${name} is missing.`, { locator: name });
    }
    return value;
  }

  /** @throws {OwsError} `InvalidParameterValue` */
  requireCount(name: string, maximum: number): number {
    const value = Number(this.require(name));
    if (!Number.isInteger(value) || value < 1 || value > maximum) {
      throw new OwsError("InvalidParameterValue", `${name} must be a whole number from 1 to ${maximum}.`, {
        locator: name,
      });
    }
    return value;
  }
}
