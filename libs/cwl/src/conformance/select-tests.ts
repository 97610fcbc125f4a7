import { CwlError } from "../errors.ts";
import type { ConformanceTest } from "./load-tests.ts";

export interface TestFilter {
  /** Numbers and ranges, as in `1,3-6,9`. */
  readonly numbers?: string | undefined;
  readonly excludedNumbers?: string | undefined;
  /** Ids, separated by commas. */
  readonly ids?: string | undefined;
  readonly excludedIds?: string | undefined;
  /** Tags, separated by commas; a test needs one of them. */
  readonly tags?: string | undefined;
  readonly excludedTags?: string | undefined;
}

/** The tests that pass a filter. Throws for numbers and ids that the suite does not have. */
export function selectTests(tests: readonly ConformanceTest[], filter: TestFilter): ConformanceTest[] {
  const numbers = parseNumbers(filter.numbers, tests.length);
  const excludedNumbers = parseNumbers(filter.excludedNumbers, tests.length);
  const ids = parseNames(filter.ids, tests);
  const excludedIds = parseNames(filter.excludedIds, tests);
  const tags = split(filter.tags);
  const excludedTags = split(filter.excludedTags);
  const isChosen = numbers === undefined && ids === undefined;
  return tests.filter(
    (test) =>
      (isChosen || numbers?.has(test.number) === true || ids?.has(test.id) === true) &&
      excludedNumbers?.has(test.number) !== true &&
      excludedIds?.has(test.id) !== true &&
      (tags === undefined || test.tags.some((tag) => tags.includes(tag))) &&
      !test.tags.some((tag) => excludedTags?.includes(tag) === true),
  );
}

function split(text: string | undefined): string[] | undefined {
  return text?.split(",").filter((item) => item !== "");
}

function parseNames(text: string | undefined, tests: readonly ConformanceTest[]): Set<string> | undefined {
  const names = split(text);
  const strange = names?.find((name) => !tests.some((test) => test.id === name));
  if (strange !== undefined) {
    throw new CwlError("invalid-inputs", `the suite has no test ${JSON.stringify(strange)}; --list shows its tests`);
  }
  return names === undefined ? undefined : new Set(names);
}

function parseNumbers(text: string | undefined, count: number): Set<number> | undefined {
  const parts = split(text);
  return parts === undefined
    ? undefined
    : new Set(
        parts.flatMap((part) => {
          const [, from = "", to = from] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
          if (from === "" || Number(from) < 1 || Number(to) > count || Number(to) < Number(from)) {
            throw new CwlError(
              "invalid-inputs",
              `${JSON.stringify(part)} is no number or range of tests; the suite has 1-${count}`,
            );
          }
          return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index);
        }),
      );
}
