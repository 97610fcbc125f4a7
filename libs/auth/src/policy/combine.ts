import type { DecisionStrategy } from "./types.ts";

/** One decision out of votes. No vote at all is a refusal. */
export function combine(strategy: DecisionStrategy, votes: readonly boolean[]): boolean {
  const granted = votes.filter(Boolean).length;
  switch (strategy) {
    case "UNANIMOUS":
      return votes.length > 0 && granted === votes.length;
    case "AFFIRMATIVE":
      return granted > 0;
    case "CONSENSUS":
      return granted > votes.length - granted;
    default:
      // Strategies come over the wire: one that this version does not know grants nothing.
      return false;
  }
}
