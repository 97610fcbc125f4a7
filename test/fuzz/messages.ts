/** A request as a parser found it in a stream of bytes. */
export interface Message {
  readonly method: string;
  /** Without scheme and authority. */
  readonly target: string;
  readonly body: string;
}

/** What a parser made of a stream. */
export interface Reading {
  readonly messages: readonly Message[];
  /**
   * How it ended: something was refused (and why), the connection is closed or becomes another protocol after the last message, or more is
   * waited for.
   */
  readonly end: "refused" | "closed" | "waiting";
  readonly why?: string;
}

/** The absolute form says the same as the origin form (RFC 9112 §3.2.2). */
export function toOriginForm(target: string): string {
  const rest = /^https?:\/\/[^/?#]+(.*)$/i.exec(target)?.[1];
  return rest === undefined ? target : rest.startsWith("/") ? rest : `/${rest}`;
}
