/**
 * Which Secrets a template has: `described` has those values that are given and says how apply makes the others; `none` leaves all
 * Secrets out, for who has them from elsewhere; `only` has nothing else, every value made, for who puts them elsewhere.
 */
export const secretsModes = ["described", "none", "only"] as const;
export type SecretsMode = (typeof secretsModes)[number];
