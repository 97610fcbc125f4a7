/** Something that stops the deployment. */
export interface Mistake {
  /** The variable or argument. */
  readonly subject: string;
  /** What was given; left out for secrets. */
  readonly value?: string;
  /** Completes "<subject>=<value> …". */
  readonly problem: string;
  readonly allowed?: string;
  /** Whether the usage of the deployment script helps. */
  readonly usage?: true;
}

/** Something that works, perhaps not as it was meant. */
export interface Warning {
  readonly subject: string;
  readonly message: string;
}

export function formatMistake({ subject, value, problem, allowed }: Mistake): string {
  const explicit = value === undefined ? subject : `${subject}=${JSON.stringify(value)}`;
  return `${explicit} ${problem}${allowed === undefined ? "" : `; allowed: ${allowed}`}`;
}

export function formatWarning({ subject, message }: Warning): string {
  return `${subject}: ${message}`;
}
