import { RegistrationError } from "../queue/errors.ts";
import { MAX_ATTEMPTS } from "../queue/retry.ts";
import type { TaskContext } from "../queue/run-task.ts";
import type { RecordProblem } from "../store/problems.ts";

/** Failures in a row after which the source itself is taken to be away. */
const MAX_IN_A_ROW = 20;

/** Parts of a catalogue that cannot be read: the others are registered all the same. */
export interface PartFailures {
  /** What cannot be read for a reason that stays. */
  readonly note: (problem: RecordProblem) => void;
  /** What cannot be read for the moment. @throws `error` where the source is away, or asks for time */
  readonly postpone: (href: string, error: RegistrationError) => void;
  /** Something was read. */
  readonly reset: () => void;
  /** The catalogue, page or collection at this address was missed: what is below it is not known. */
  readonly noteMissedCatalog: (href: string) => void;
  readonly missedCatalogs: () => readonly string[];
  /** Problems since the last call. */
  readonly take: () => readonly RecordProblem[];
  /**
   * Called when all the rest is registered.
   * @returns what was reported
   * @throws {RegistrationError} so that the task is tried again; at its last attempt what was postponed is reported
   */
  readonly settle: (context: Pick<TaskContext, "task" | "report">) => Promise<readonly RecordProblem[]>;
}

export function createPartFailures(): PartFailures {
  const problems: RecordProblem[] = [];
  const postponed: RecordProblem[] = [];
  let inARow = 0;
  const missedCatalogs: string[] = [];
  return {
    note: (problem) => {
      problems.push(problem);
    },
    postpone: (href, error) => {
      inARow += 1;
      if (inARow >= MAX_IN_A_ROW || error.retryAfter !== undefined) {
        throw error;
      }
      postponed.push({ record: href, reason: error.message });
    },
    reset: () => {
      inARow = 0;
    },
    noteMissedCatalog: (href) => {
      missedCatalogs.push(href);
    },
    missedCatalogs: () => missedCatalogs,
    take: () => problems.splice(0),
    settle: async ({ task, report }) => {
      const [first] = postponed;
      if (first === undefined) {
        return [];
      }
      if (task.attempts < MAX_ATTEMPTS) {
        throw new RegistrationError(
          `${first.reason}${postponed.length > 1 ? ` So it is with ${postponed.length - 1} more documents.` : ""} Everything else is registered.`,
          { isTransient: true },
        );
      }
      await report(postponed);
      return postponed;
    },
  };
}
