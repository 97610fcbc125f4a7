/** Something that was found, and its page. */
export interface Hit {
  readonly title: string;
  /** Where or of when: a second, dimmed text. */
  readonly about: string;
  readonly to: string;
  /** On another host. */
  readonly isElsewhere?: true;
}

/** Whether every word is somewhere. */
export function matches(text: string, ...fields: readonly string[]): boolean {
  const where = fields.join("\n").toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => where.includes(word));
}
