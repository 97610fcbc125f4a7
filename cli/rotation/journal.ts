import type { PlatformSecret, Variables } from "@swath/manifest";

import { otherName } from "../targets/other-secret.ts";
import type { Manner } from "./subjects.ts";

/** One secret on its way from one value to another. */
export interface Change {
  readonly subject: string;
  readonly manner: Manner;
  /** Of a generated one: its name among the deployment's secrets. */
  readonly name?: string;
  /** Of one that the operator gave: the variable. */
  readonly variable?: keyof Variables;
  readonly from: string;
  readonly to: string;
}

/**
 * How far a rotation is. It lies among the deployment's own secrets, so that it is read by the operator alone and changes together
 * with them.
 *
 * 1: both values are known. 2: the new one is used, the old one still accepted. 3: the old one is not accepted any more.
 */
export interface Journal {
  readonly step: 1 | 2 | 3;
  readonly changes: readonly Change[];
}

const NAME = "rotation";

export function readJournal(secrets: ReadonlyMap<string, string>): Journal | undefined {
  const text = secrets.get(NAME);
  return text === undefined || text === "" ? undefined : (JSON.parse(text) as Journal);
}

/** Brings the generated secrets to what they are in this step. Doing it again changes nothing. */
export function enterStep(secrets: Map<string, string>, journal: Journal): void {
  secrets.set(NAME, JSON.stringify(journal));
  for (const { name, ...change } of journal.changes) {
    if (name !== undefined) {
      const { value, also } = valuesOf({ ...change, step: journal.step });
      secrets.set(name, value);
      if (also === undefined) {
        secrets.delete(otherName(name));
      } else {
        secrets.set(otherName(name), also);
      }
    }
  }
}

export function endJournal(secrets: Map<string, string>): void {
  secrets.delete(NAME);
}

/** What the operator's own secrets are in a step, by their variables. */
export function givenSecrets({ step, changes }: Journal): Partial<Record<keyof Variables, PlatformSecret>> {
  return Object.fromEntries(
    changes.flatMap(({ variable, name, ...change }) => {
      if (variable === undefined || name !== undefined) {
        return [];
      }
      const { value, also } = valuesOf({ ...change, step });
      return [[variable, { kind: "given" as const, value, ...(also !== undefined && { also }) }]];
    }),
  );
}

/** A secret's value in a step, and the other one that is accepted beside it. */
function valuesOf({ manner, from, to, step }: Pick<Change, "manner" | "from" | "to"> & Pick<Journal, "step">): {
  value: string;
  also: string | undefined;
} {
  if (manner === "keyring") {
    return { value: step === 3 || to.split(",").includes(from) ? to : `${to},${from}`, also: undefined };
  }
  if (step === 1) {
    return { value: from, also: to };
  }
  return { value: to, also: step === 2 ? (manner === "second role" ? to : from) : undefined };
}
