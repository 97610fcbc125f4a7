/** One environment variable of a service. */
export interface SettingDefinition {
  readonly kind: "string" | "integer" | "boolean" | "url" | "duration";
  readonly description: string;
  /** Makes the variable optional; `undefined` as the default of an optional one is written `optional: true`. */
  readonly default?: string | number | boolean;
  readonly optional?: true;
  /** Never shown in errors and logs. */
  readonly secret?: true;
  /** Allowed values of a string. */
  readonly oneOf?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

type Definitions = Readonly<Record<string, SettingDefinition>>;
type ValueOf<D extends SettingDefinition> = D["kind"] extends "integer" | "duration"
  ? number
  : D["kind"] extends "boolean"
    ? boolean
    : D["oneOf"] extends readonly (infer One)[]
      ? One
      : string;

/** The typed values of a table of definitions. Durations ("90s", "15m", "1h") are seconds. */
export type Settings<D extends Definitions> = {
  readonly [K in keyof D]: D[K]["optional"] extends true ? ValueOf<D[K]> | undefined : ValueOf<D[K]>;
};

/** Every mistake in a service's environment at once. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`The environment of this service is not usable:\n${mistakes.map((mistake) => `  ${mistake}`).join("\n")}`);
    this.mistakes = mistakes;
  }
}

/** Keeps the literal types of a table of settings. */
export function defineSettings<const D extends Definitions>(definitions: D): D {
  return definitions;
}

/**
 * Reads a service's settings from its environment, once, whole.
 * @throws {SettingsError} naming every variable that is missing or wrong, its value unless secret, and what is allowed
 */
export function loadSettings<const D extends Definitions>(definitions: D, env: NodeJS.ProcessEnv): Settings<D> {
  const values: Record<string, unknown> = {};
  const mistakes: string[] = [];
  for (const [name, definition] of Object.entries(definitions)) {
    const text = env[name];
    if (text === undefined || text === "") {
      if (definition.default !== undefined) {
        values[name] = definition.kind === "duration" ? parseDuration(String(definition.default)) : definition.default;
      } else if (definition.optional) {
        values[name] = undefined;
      } else {
        mistakes.push(`${name} is missing: ${definition.description}`);
      }
      continue;
    }
    const result = parseValue(text, definition);
    if ("mistake" in result) {
      mistakes.push(`${name}=${definition.secret ? "(secret)" : JSON.stringify(text)} ${result.mistake}`);
    } else {
      values[name] = result.value;
    }
  }
  if (mistakes.length > 0) {
    throw new SettingsError(mistakes);
  }
  return values as Settings<D>;
}

function parseValue(text: string, definition: SettingDefinition): { value: unknown } | { mistake: string } {
  switch (definition.kind) {
    case "string":
      return definition.oneOf === undefined || definition.oneOf.includes(text)
        ? { value: text }
        : { mistake: `is not one of ${definition.oneOf.join(", ")}` };
    case "boolean":
      return text === "true" || text === "false" ? { value: text === "true" } : { mistake: "is not true or false" };
    case "url":
      return URL.canParse(text) ? { value: text.replace(/\/+$/, "") } : { mistake: "is not a URL" };
    case "duration": {
      const seconds = parseDuration(text);
      return Number.isNaN(seconds)
        ? { mistake: "is not a duration like 90s, 15m, 12h or 7d" }
        : checkRange(seconds, definition);
    }
    case "integer":
      return /^-?\d+$/.test(text) ? checkRange(Number(text), definition) : { mistake: "is not a whole number" };
  }
}

function checkRange(
  value: number,
  { minimum = -Infinity, maximum = Infinity }: SettingDefinition,
): { value: number } | { mistake: string } {
  return value >= minimum && value <= maximum ? { value } : { mistake: `is not between ${minimum} and ${maximum}` };
}

function parseDuration(text: string): number {
  const match = /^(\d+)(s|m|h|d)?$/.exec(text);
  const unit = { s: 1, m: 60, h: 3600, d: 86400 }[match?.[2] ?? "s"] ?? 1;
  return match === null ? Number.NaN : Number(match[1]) * unit;
}
