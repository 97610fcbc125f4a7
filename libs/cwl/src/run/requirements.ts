import type { Requirement } from "../model/process.ts";

interface Level {
  readonly requirements: readonly Requirement[];
  readonly hints: readonly Requirement[];
}

/**
 * The requirements in force for a process: its own, its step's, its workflow's and so on outwards. Requirements of any
 * level go before hints of any level; within each, the innermost wins.
 */
export class Requirements {
  /** Innermost first. */
  private readonly levels: readonly Level[];

  constructor(levels: readonly Level[] = []) {
    this.levels = levels;
  }

  /** The same with one more level inside. */
  inside(level: Level): Requirements {
    return level.requirements.length === 0 && level.hints.length === 0
      ? this
      : new Requirements([level, ...this.levels]);
  }

  find(name: string): Requirement | undefined {
    for (const kind of ["requirements", "hints"] as const) {
      for (const level of this.levels) {
        const found = level[kind].findLast((item) => item.class === name);
        if (found !== undefined) {
          return found;
        }
      }
    }
    return undefined;
  }

  has(name: string): boolean {
    return this.find(name) !== undefined;
  }

  /** All that are demanded, innermost first. */
  required(): readonly Requirement[] {
    return this.levels.flatMap((level) => level.requirements);
  }

  /** Everything in force, innermost first. */
  all(): readonly Requirement[] {
    return this.levels.flatMap((level) => [...level.requirements, ...level.hints]);
  }
}
