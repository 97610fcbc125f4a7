/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | undefined | false | readonly Html[];

/** Makes HTML of a template, without its indentation; every value in it that is not HTML itself is escaped. */
export function html(literals: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(
    literals
      .map((literal) => literal.replace(/\n\s+/g, "\n"))
      .reduce((text, literal, index) => text + toText(values[index - 1]) + literal),
  );
}

function toText(value: Part): string {
  if (value === undefined || value === false) {
    return "";
  }
  if (value instanceof Html) {
    return value.text;
  }
  return typeof value === "string" || typeof value === "number"
    ? escape(String(value))
    : value.map(({ text }) => text).join("");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
