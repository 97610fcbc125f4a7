import { compilePattern } from "../store/patterns.ts";
import { type RetentionRule, describeRule } from "./rules.ts";

/** A tag of an artifact, or an artifact without one. */
export interface Candidate {
  readonly digest: string;
  /** Left out for an artifact without a tag. */
  readonly tag: string | undefined;
  readonly pushedAt: Date;
  readonly pulledAt: Date | undefined;
  readonly isImmutable: boolean;
}

export interface Decision {
  readonly candidate: Candidate;
  readonly isKept: boolean;
  /** By which rule, or that none keeps it. */
  readonly reason: string;
}

const DAY_MS = 86_400_000;

/**
 * What of a repository is kept and what goes, and why. Undefined for a repository that no rule speaks of: nothing goes there.
 * `name` is without the project.
 */
export function planRetention(
  name: string,
  candidates: readonly Candidate[],
  rules: readonly RetentionRule[],
  now: Date,
): readonly Decision[] | undefined {
  const applying = rules.filter(
    ({ repositories, excludesRepositories, isDisabled }) =>
      !isDisabled && compilePattern(repositories)?.(name) !== excludesRepositories,
  );
  if (applying.length === 0) {
    return undefined;
  }
  const kept = new Map<Candidate, string>();
  for (const rule of applying) {
    for (const candidate of select(candidates, rule, now)) {
      kept.set(candidate, kept.get(candidate) ?? describeRule(rule));
    }
  }
  return candidates.map((candidate) => {
    const reason = candidate.isImmutable ? "the tag is immutable" : kept.get(candidate);
    return { candidate, isKept: reason !== undefined, reason: reason ?? "no rule keeps it" };
  });
}

function select(candidates: readonly Candidate[], rule: RetentionRule, now: Date): readonly Candidate[] {
  const fits = compilePattern(rule.tags);
  const meant = candidates.filter(({ tag }) => (tag === undefined ? rule.untagged : fits?.(tag) !== rule.excludesTags));
  const since = now.getTime() - rule.count * DAY_MS;
  switch (rule.template) {
    case "always":
      return meant;
    case "latestPushedK":
      return meant.toSorted((a, b) => b.pushedAt.getTime() - a.pushedAt.getTime()).slice(0, rule.count);
    case "latestPulledN":
      return meant
        .filter(({ pulledAt }) => pulledAt !== undefined)
        .toSorted((a, b) => (b.pulledAt?.getTime() ?? 0) - (a.pulledAt?.getTime() ?? 0))
        .slice(0, rule.count);
    case "nDaysSinceLastPush":
      return meant.filter(({ pushedAt }) => pushedAt.getTime() >= since);
    case "nDaysSinceLastPull":
      return meant.filter(({ pulledAt }) => pulledAt !== undefined && pulledAt.getTime() >= since);
  }
}
