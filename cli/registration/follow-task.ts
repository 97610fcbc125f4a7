import { setTimeout as sleep } from "node:timers/promises";

import { CommandError } from "../commands/command.ts";
import { describe } from "../helpers/admin-session.ts";
import type { RegistrationSession } from "./registration-session.ts";

/** A task of the registration API. */
export interface RegistrationTask {
  readonly id: string;
  readonly kind: string;
  readonly workspace: string | null;
  readonly state: string;
  readonly attempts: number;
  readonly reason: string | null;
  readonly next_attempt?: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<"registered" | "unchanged" | "removed" | "failed", number>> | null;
  readonly created_at: string;
  readonly finished_at: string | null;
}

export interface TaskProblem {
  readonly record: string;
  readonly reason: string;
}

const INITIAL_BACKOFF_MS = 100;
const MAX_PAUSE_MS = 2000;

/** A task by its id. @throws {CommandError} */
export async function readTask(session: RegistrationSession, id: string): Promise<RegistrationTask> {
  const { status, body } = await session.request("GET", `/tasks/${encodeURIComponent(id)}`);
  if (status !== 200) {
    throw new CommandError(`task ${id} cannot be read: ${describe(status, body)}`);
  }
  return body as RegistrationTask;
}

/** Follows a task until it has ended, and tells how far it is whenever that changed. */
export async function followTask(
  session: RegistrationSession,
  id: string,
  print: (text: string) => void,
): Promise<RegistrationTask> {
  let said = "";
  for (let pause = INITIAL_BACKOFF_MS; ; pause = Math.min(pause * 1.5, MAX_PAUSE_MS)) {
    const task = await readTask(session, id);
    const progress = describeProgress(task);
    if (isEnded(task)) {
      return task;
    }
    if (progress !== said && task.state !== "queued") {
      print(`task ${id}: ${progress}`);
    } else if (progress !== said && task.reason !== null) {
      print(`task ${id}: ${task.reason} It is tried again at ${task.next_attempt ?? "once"}.`);
    }
    said = progress;
    await sleep(pause);
  }
}

export const isEnded = ({ state }: RegistrationTask): boolean => state !== "queued" && state !== "running";

/** `running: 1500 registered, 3 failed` */
export function describeProgress({ state, result }: RegistrationTask): string {
  const counts = (["registered", "unchanged", "removed", "failed"] as const)
    .filter((name) => (result?.[name] ?? 0) > 0)
    .map((name) => `${result?.[name]} ${name}`);
  return `${state}${counts.length === 0 ? "" : `: ${counts.join(", ")}`}`;
}

/** The same in a list, where the reason is not shown. */
export const describeListed = (task: RegistrationTask): string =>
  task.next_attempt === undefined || Date.parse(task.next_attempt) <= Date.now()
    ? describeProgress(task)
    : `${describeProgress(task)}; failed, again at ${task.next_attempt.replace(/\.\d+Z$/, "Z")}`;

const MAX_SHOWN = 20;

/** What came of a task, in lines: the counts, the reason, the first records that could not be registered. */
export async function reportTask(session: RegistrationSession, task: RegistrationTask): Promise<string> {
  const lines = [`task ${task.id} ${describeProgress(task)}`];
  if (task.reason !== null) {
    lines.push(`  ${task.reason}`);
  }
  if ((task.result?.failed ?? 0) > 0) {
    const problems = await readProblems(session, task.id);
    lines.push(...problems.slice(0, MAX_SHOWN).map(({ record, reason }) => `  ${record}: ${reason}`));
    if (problems.length > MAX_SHOWN) {
      lines.push(`  … swath harvest show ${task.id} names the others`);
    }
  }
  return `${lines.join("\n")}\n`;
}

export async function readProblems(session: RegistrationSession, id: string): Promise<readonly TaskProblem[]> {
  const { status, body } = await session.request("GET", `/tasks/${encodeURIComponent(id)}/problems`);
  return status === 200 ? (body as { problems: readonly TaskProblem[] }).problems : [];
}
