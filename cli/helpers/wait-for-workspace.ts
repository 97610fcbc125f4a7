import { setTimeout as sleep } from "node:timers/promises";

import { CommandError } from "../commands/command.ts";
import { describe } from "./admin-session.ts";

interface WaitOptions {
  readonly name: string;
  /** The record of the workspace. */
  readonly read: () => Promise<{ readonly status: number; readonly body: unknown }>;
  readonly print: (text: string) => void;
  /** Milliseconds between two looks, after which it is not waited any more, and that a reason without a failed step may last. */
  readonly pauseMs?: number;
  readonly timeoutMs?: number;
  readonly idleMs?: number;
}

/** Attempts of a failing step after which waiting does not help: they took about a quarter of a minute. */
const HOPELESS_ATTEMPTS = 5;

interface WorkspaceState {
  readonly status?: string;
  readonly status_reason?: string;
  readonly steps?: readonly { readonly state: string; readonly attempts?: number }[];
}

/**
 * Waits until a workspace is ready, and prints why it is not whenever that changes.
 * @throws {CommandError} with the reason, when waiting does not help or lasts too long
 */
export async function waitForWorkspace({
  name,
  read,
  print,
  pauseMs = 250,
  timeoutMs = 120_000,
  idleMs = 15_000,
}: WaitOptions): Promise<void> {
  const start = Date.now();
  let said: string | undefined;
  let since = start;
  for (;;) {
    const { status, body } = await read();
    const { status: state, status_reason: reason, steps = [] } = Object(body) as WorkspaceState;
    if (status === 200 && state === "ready") {
      return;
    }
    const why = status === 200 ? reason : describe(status, body);
    const shown = why?.replace(/failed \d+ times and is tried again/, "fails");
    if (shown !== said) {
      said = shown;
      since = Date.now();
      if (shown !== undefined) {
        print(`workspace ${name} is ${state ?? "not there yet"}: ${shown}`);
      }
    }
    const attempts = Math.max(0, ...steps.flatMap((step) => (step.state === "failed" ? (step.attempts ?? 0) : [])));
    const isStuck = why !== undefined && attempts === 0 && Date.now() - since > idleMs;
    if (attempts >= HOPELESS_ATTEMPTS || isStuck) {
      throw new CommandError(
        `workspace ${name} was created and is not ready: ${why ?? "a step fails"}\nWhen the reason is gone it becomes ready by itself; the reconciler logs more: bin/swath logs workspace-reconciler`,
      );
    }
    if (Date.now() - start > timeoutMs) {
      throw new CommandError(
        `workspace ${name} was created and is not ready after ${timeoutMs / 1000} s: ${why ?? "its parts are still being made"}`,
      );
    }
    await sleep(pauseMs);
  }
}
