import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import type { PlatformSecret } from "@swath/manifest";

import type { Plan } from "../platform/plan.ts";
import type { Target } from "../targets/target.ts";
import { type Change, type Journal, endJournal, enterStep, givenSecrets, readJournal } from "./journal.ts";
import {
  changePasswords,
  findChangedRoles,
  makeSecondRoles,
  planWithSecondRoles,
  removeSecondRoles,
} from "./second-role.ts";
import type { Changeable, Subject } from "./subjects.ts";

interface RotateOptions {
  readonly target: Target;
  /** The deployment's plan with other settings. */
  readonly plan: (provided: ReturnType<typeof givenSecrets>) => Plan;
  /** Makes the deployment what the plan says, and resolves when every pod is and those of before have ended. */
  readonly apply: (plan: Plan) => Promise<void>;
  readonly print: (line: string) => void;
  /** Ends after the second step: old and new values are both accepted then, until the rotation is carried on. */
  readonly keepOld: boolean;
}

const POLL_MS = 500;

/** What is to be changed, with its new value: the operator's, or made. */
export async function planChanges(
  target: Target,
  chosen: readonly { readonly subject: Subject; readonly changeable: Changeable; readonly provided?: string }[],
): Promise<readonly Change[]> {
  const changes: Change[] = [];
  for (const { subject, changeable, provided } of chosen) {
    const { secret, variable } = changeable;
    const common = { subject: subject.name, manner: subject.manner, from: await target.readSecret(secret) };
    if (secret.kind === "generated") {
      changes.push({ ...common, name: secret.name, to: randomBytes(secret.bytes).toString("base64url") });
    } else if (variable !== undefined && provided !== undefined) {
      changes.push({ ...common, variable, to: provided });
    }
  }
  return changes;
}

/** Begins a rotation: from here on a rerun carries it on. */
export async function beginRotation(target: Target, changes: readonly Change[]): Promise<void> {
  await target.changeSecrets((secrets) => enterStep(secrets, { step: 1, changes }));
}

/**
 * Carries on the rotation that the deployment's secrets tell of, from the step that it is in. Every step may be repeated.
 * @returns false when it was asked to stop while both values are accepted
 */
export async function carryOn(options: RotateOptions): Promise<boolean> {
  const { target, apply, print } = options;
  for (;;) {
    const journal = readJournal(await target.readSecrets());
    if (journal === undefined) {
      return true;
    }
    const plan = options.plan(givenSecrets(journal));
    const changed = findChangedRoles(plan, journal.changes);
    const host = target.databaseFolder;
    const { database } = plan;
    const roles =
      changed.length > 0 && host !== undefined
        ? { host, database, readSecret: async (secret: PlatformSecret) => target.readSecret(secret) }
        : undefined;
    switch (journal.step) {
      case 1:
        print("1 of 3: the new values are made known");
        if (roles) {
          await makeSecondRoles(roles, changed);
        }
        await apply(roles ? planWithSecondRoles(plan, changed) : plan);
        await enter(target, { ...journal, step: 2 });
        break;
      case 2:
        print("2 of 3: everything turns to the new values");
        if (roles) {
          await changePasswords(roles, changed);
        }
        await apply(plan);
        await waitForKeys(options, journal);
        if (options.keepOld) {
          return false;
        }
        await enter(target, { ...journal, step: 3 });
        break;
      case 3:
        print("3 of 3: the old values are forgotten");
        await apply(plan);
        if (roles) {
          await removeSecondRoles(roles, changed);
        }
        await target.changeSecrets(endJournal);
        return true;
    }
  }
}

async function enter(target: Target, journal: Journal): Promise<void> {
  await target.changeSecrets((secrets) => enterStep(secrets, journal));
}

/** An old key of the object storage is needed until it has encrypted every data key with the new one. */
async function waitForKeys({ target, print }: RotateOptions, { changes }: Journal): Promise<void> {
  if (!changes.some(({ manner }) => manner === "keyring")) {
    return;
  }
  for (let attempt = 0; ; attempt += 1) {
    const pod = (await target.listPods()).find(({ workload, phase }) => workload === "objstore" && phase === "Running");
    const metrics = pod && (await target.readMetrics(pod));
    if (metrics !== undefined && /^objstore_encryption_old_keys 0$/m.test(metrics)) {
      return;
    }
    if (attempt === 4) {
      print("waiting until the object storage has encrypted the keys of all objects anew ...");
    }
    await sleep(POLL_MS);
  }
}
