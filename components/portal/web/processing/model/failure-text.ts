/** A job's or step's message in two parts: what happened, and the end of what the tool printed. */
export interface FailureText {
  readonly headline: string;
  readonly output: string;
}

export function splitFailure(message: string): FailureText {
  const [first = "", ...rest] = message.split("\n");
  const output = rest.join("\n").trim();
  return { headline: output === "" ? first : first.replace(/[;,]? its last words:?$/, ""), output };
}

/** One line for a table: what happened, with the last line of what the tool printed, which usually is the reason. */
export function summarizeFailure(message: string): string {
  const { headline, output } = splitFailure(message);
  const reason = output.split("\n").findLast((line) => line.trim() !== "");
  return reason === undefined ? headline : `${headline}: ${reason.trim()}`;
}
