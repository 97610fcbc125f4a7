/** What was typed into a form of the console. Every field is a text or several; what is missing is empty. */
export class FormFields {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(body: unknown) {
    this.#fields = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  }

  /** The last value of a field, without white space around it. */
  text(name: string): string {
    return (this.all(name).at(-1) ?? "").trim();
  }

  /** The value as it was typed: passwords may begin with a space. */
  raw(name: string): string {
    return this.all(name).at(-1) ?? "";
  }

  flag(name: string): boolean {
    return this.text(name) === "yes";
  }

  /** Every value of a field that comes several times. */
  all(name: string): readonly string[] {
    const value = this.#fields[name];
    return (Array.isArray(value) ? value : [value]).filter((item): item is string => typeof item === "string");
  }

  /** Lines that are not empty. */
  lines(name: string): readonly string[] {
    return this.raw(name)
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== "");
  }

  /** A whole number. @throws {RangeError} naming the field as people see it */
  number(name: string, label: string): number {
    const value = this.text(name);
    if (!/^\d{1,12}$/.test(value)) {
      throw new RangeError(`${label} is ${JSON.stringify(value)}; allowed: a whole number`);
    }
    return Number(value);
  }
}
