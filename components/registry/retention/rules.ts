/** By what a rule keeps artifacts. */
export const TEMPLATES = [
  "latestPushedK",
  "latestPulledN",
  "nDaysSinceLastPush",
  "nDaysSinceLastPull",
  "always",
] as const;
export type Template = (typeof TEMPLATES)[number];

/** What is to be kept; what no rule of its repository keeps, goes. */
export interface RetentionRule {
  readonly template: Template;
  /** How many, or how many days; nothing for `always`. */
  readonly count: number;
  /** Pattern of tags, and whether those are meant that do not fit it. */
  readonly tags: string;
  readonly excludesTags: boolean;
  readonly repositories: string;
  readonly excludesRepositories: boolean;
  /** Whether artifacts without a tag are kept like those with one. */
  readonly untagged: boolean;
  readonly isDisabled: boolean;
}

/** A rule in words. */
export function describeRule({ template, count, tags, excludesTags }: RetentionRule): string {
  const which = `tags ${excludesTags ? "other than" : "matching"} ${tags}`;
  switch (template) {
    case "latestPushedK":
      return `the ${count} pushed last of ${which}`;
    case "latestPulledN":
      return `the ${count} pulled last of ${which}`;
    case "nDaysSinceLastPush":
      return `pushed within ${count} days, ${which}`;
    case "nDaysSinceLastPull":
      return `pulled within ${count} days, ${which}`;
    case "always":
      return `always, ${which}`;
  }
}
