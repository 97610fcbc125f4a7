import { parseArgs } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";

import type { Variables } from "@swath/manifest";

import { definitionOf } from "../../config/variables/table.ts";
import { components } from "../../platform/components.ts";
import { type Plan, createPlan } from "../../platform/plan.ts";
import { readJournal } from "../../rotation/journal.ts";
import { beginRotation, carryOn, planChanges } from "../../rotation/rotate.ts";
import { type Changeable, type Subject, subjects } from "../../rotation/subjects.ts";
import { acquireApplyLock } from "../../targets/embedded/acquire-apply-lock.ts";
import { clusterPaths } from "../../targets/embedded/state/paths.ts";
import type { Target } from "../../targets/target.ts";
import { watchUntilSettled } from "../../view/watch-until-settled.ts";
import { CommandError, type CommandContext } from "../command.ts";
import { DEFAULT_CLUSTER, openTarget, readDeployedPlan } from "../../targets/open-target.ts";

/** `swath credentials rotate`. */
export async function rotateCredentials(context: CommandContext): Promise<number> {
  const { args, env, stdout, stderr } = context;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { "keep-old": { type: "boolean", default: false } },
  });
  const [what = "all", cluster = DEFAULT_CLUSTER, ...more] = positionals;
  if (more.length > 0) {
    throw new CommandError(
      `too many arguments: ${more.join(" ")}; Usage: swath credentials rotate [WHAT] [CLUSTER] [--keep-old]`,
      2,
    );
  }
  const desired = what === "all" ? subjects : subjects.filter(({ name }) => name === what);
  if (desired.length === 0) {
    throw new CommandError(
      `"${what}" is nothing that can be changed; allowed: all, ${subjects.map(({ name }) => name).join(", ")}`,
      2,
    );
  }
  const target = openTarget(cluster, env);
  const release =
    target.databaseFolder === undefined
      ? () => {}
      : await acquireApplyLock(clusterPaths(cluster, env).id, () =>
          stderr.write(`another apply of cluster "${cluster}" is at work; waiting for it to end ...\n`),
        );
  try {
    const plan = await readDeployedPlan(target);
    const unfinished = readJournal(await target.readSecrets());
    if (unfinished === undefined) {
      const chosen = choose({ plan, desired, env, isNamed: what !== "all", stdout });
      if (chosen.length === 0) {
        stdout.write("nothing was changed\n");
        return 0;
      }
      await beginRotation(target, await planChanges(target, chosen));
    } else {
      const names = [...new Set(unfinished.changes.map(({ subject }) => subject))];
      stdout.write(`carrying on the rotation of ${names.join(", ")} that was begun before\n`);
    }
    sayIfInterrupting(target, stdout);
    const isDone = await carryOn({
      target,
      plan: (provided) => {
        const variables = { ...plan.settings.variables, ...(provided as unknown as Partial<Variables>) };
        return createPlan({ ...plan.settings, variables }, components);
      },
      apply: (next) => applyAndSettle(target, next, context),
      print: (line) => stdout.write(`${line}\n`),
      keepOld: values["keep-old"],
    });
    const show = `swath credentials${cluster === DEFAULT_CLUSTER ? "" : ` ${cluster}`}`;
    stdout.write(
      isDone
        ? `done: the old values are refused; ${show} shows the new ones\n`
        : `the new values are in use and the old ones still accepted; to forget them: swath credentials rotate ${what} ${cluster}\n`,
    );
    return 0;
  } finally {
    release();
  }
}

type Chosen = { readonly subject: Subject; readonly changeable: Changeable; readonly provided?: string };

interface ChooseOptions extends Pick<CommandContext, "env" | "stdout"> {
  readonly plan: Plan;
  readonly desired: readonly Subject[];
  /** One thing was named, so that nothing to do there is a mistake. */
  readonly isNamed: boolean;
}

function choose({ plan, desired, env, isNamed, stdout }: ChooseOptions): readonly Chosen[] {
  return desired.flatMap((subject): readonly Chosen[] => {
    const found = subject.find(plan);
    if (found.length === 0 && isNamed) {
      throw new CommandError(`this deployment has no ${subject.name} of its own`);
    }
    const isProvided = found.every(({ secret }) => secret.kind === "given");
    return found.flatMap((changeable): readonly Chosen[] => {
      const { secret, variable } = changeable;
      if (secret.kind === "generated") {
        return [{ subject, changeable }];
      }
      const provided = variable && readGiven(variable, env);
      if (provided !== undefined && provided !== secret.value) {
        return [{ subject, changeable, provided }];
      }
      const advice = `${subject.name} is given by ${variable ?? "a variable"}: set that to the new value, run this again, and keep it set for every later apply`;
      if (isNamed && isProvided) {
        throw new CommandError(`nothing was changed: ${advice}`);
      }
      stdout.write(`left as it is: ${advice}\n`);
      return [];
    });
  });
}

/** The value that the operator's environment has for a variable now. @throws {CommandError} for one that is not allowed */
function readGiven(variable: keyof Variables, env: NodeJS.ProcessEnv): string | undefined {
  const { type, aliases = [] } = definitionOf(variable);
  const text = [variable, ...aliases].map((name) => env[name]).find((value) => value !== undefined && value !== "");
  if (text === undefined) {
    return undefined;
  }
  const parsed = type.parse(text);
  if ("problem" in parsed) {
    throw new CommandError(`nothing was changed: ${variable} ${parsed.problem}; allowed: ${type.allowed}`);
  }
  return text;
}

function sayIfInterrupting(target: Target, stdout: NodeJS.WriteStream): void {
  if (target.databaseFolder === undefined) {
    stdout.write(
      "On Kubernetes the database and the object storage are restarted: requests that need them wait or are answered 503 for that moment.\n",
    );
  }
}

async function applyAndSettle(target: Target, plan: Plan, { stdout, stderr }: CommandContext): Promise<void> {
  const controller = new AbortController();
  const { finished, release } = await target.apply(plan, { signal: controller.signal });
  try {
    const outcome = await watchUntilSettled({ target, stdout, finished });
    if (!outcome.settled) {
      stderr.write(outcome.explanation);
      throw new CommandError("the rotation stopped here; when the fault is mended, the same command carries it on");
    }
    // Whoever still ends was started with the values of before.
    while ((await target.listPods()).some(({ phase }) => phase === "Terminating")) {
      await sleep(200);
    }
  } finally {
    controller.abort();
    await release?.();
  }
}

/** @throws {CommandError} while a rotation has been begun and not ended: an apply would not know which values hold */
export async function requireNoRotation(target: Target): Promise<void> {
  if (readJournal(await target.readSecrets()) !== undefined) {
    throw new CommandError(
      "nothing was changed: a rotation of credentials was begun and has not ended; first: bin/swath credentials rotate",
    );
  }
}
