import type { AssignedScope } from "../store/client-scopes.ts";
import type { Client } from "../store/clients.ts";

/**
 * The scope of a grant: the client's default scopes always, of its optional ones what was asked for, and `openid`. What is not known
 * is left out, as RFC 6749 §3.3 allows.
 */
export function grantScope({ scopes }: Pick<Client, "scopes">, requested: string | undefined): string {
  const wanted = new Set((requested ?? "").split(" "));
  const granted = scopes
    .filter(({ name, optional, attributes }) => (optional ? wanted.has(name) : isShown(attributes)))
    .map(({ name }) => name);
  return [...(wanted.has("openid") ? ["openid"] : []), ...granted.toSorted(byRank)].join(" ");
}

/** A granted scope as tokens and answers say it: without those that are not to be shown. */
export function showScope({ scopes }: Pick<Client, "scopes">, granted: string): string {
  const hidden = new Set(scopes.filter(({ attributes }) => !isShown(attributes)).map(({ name }) => name));
  return granted
    .split(" ")
    .filter((name) => !hidden.has(name))
    .join(" ");
}

/** The scopes of a client whose mappers hold for a grant: those that were granted, and default ones that are never shown. */
export function heldScopes({ scopes }: Pick<Client, "scopes">, granted: string): readonly AssignedScope[] {
  const names = new Set(granted.split(" "));
  return scopes.filter(({ name, optional, attributes }) => names.has(name) || (!optional && !isShown(attributes)));
}

function isShown(attributes: Readonly<Record<string, string>>): boolean {
  return attributes["include.in.token.scope"] !== "false";
}

/** `profile email` first, as existing clients show them. */
const RANKS = ["profile", "email"];
function byRank(one: string, other: string): number {
  const rank = (name: string) => (RANKS.indexOf(name) + RANKS.length + 1) % (RANKS.length + 1);
  return rank(one) - rank(other) || one.localeCompare(other);
}
