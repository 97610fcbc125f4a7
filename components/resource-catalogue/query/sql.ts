/** A statement in the making: its parameters, in the order of their numbers. */
export class SqlParameters {
  readonly values: unknown[] = [];

  /** The placeholder of a value: `$3`, or `$3::text[]` with a type. */
  add(value: unknown, type?: string): string {
    this.values.push(value);
    return type === undefined ? `$${this.values.length}` : `$${this.values.length}::${type}`;
  }
}

/** A text as a literal of SQL, for names that become part of a statement and of expressions of indexes. */
export function quoteLiteral(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes("\\") ? `E${quoted.replaceAll("\\", "\\\\")}` : quoted;
}
