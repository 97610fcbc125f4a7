import { wordsOf } from "../model/words.ts";
import type { WordQuery } from "./expression.ts";
import { FilterError } from "./expression.ts";

/** Words of one query at most. */
const MAX_WORDS = 100;

/** PostgreSQL's tsquery of a query; the words are of letters and digits alone. */
export function toTsQuery(query: WordQuery): string {
  if ("all" in query) {
    return query.all.length === 0 ? "" : `(${query.all.map(toTsQuery).join(" & ")})`;
  }
  if ("any" in query) {
    return query.any.length === 0 ? "" : `(${query.any.map(toTsQuery).join(" | ")})`;
  }
  if ("not" in query) {
    return `!(${toTsQuery(query.not)})`;
  }
  const { phrase, isPrefix = false } = query;
  return phrase
    .map((word, index) => `'${word.slice(0, 60)}'${isPrefix && index === phrase.length - 1 ? ":*" : ""}`)
    .join(" <-> ");
}

/**
 * Free text as STAC's basic extension and OGC API Records have it: any of the terms, each of which is a phrase; the last word of each may
 * go on, so that people find things while they type. `undefined` where there is no word to look for.
 */
export function parseTerms(terms: readonly string[]): WordQuery | undefined {
  const phrases = terms.map((term) => wordsOf(term)).filter((words) => words.length > 0);
  if (phrases.flat().length > MAX_WORDS) {
    throw new FilterError(`q has more than ${MAX_WORDS} words`);
  }
  return phrases.length === 0 ? undefined : { any: phrases.map((phrase) => ({ phrase, isPrefix: true })) };
}
