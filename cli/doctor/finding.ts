import type { Plan } from "../platform/plan.ts";
import type { PreparedCluster } from "../targets/embedded/prepare-cluster.ts";

/** What a check found out. */
export interface Finding {
  /** `good`; `limited`: the deployment works, but something that people may want does not; `bad`: it will not work. */
  readonly verdict: "good" | "limited" | "bad";
  /** What is checked, in two words at most: "memory". */
  readonly subject: string;
  /** What was found: "18.2 GiB available". */
  readonly found: string;
  /** What it means for the deployment; left out where all is well. */
  readonly meaning?: string;
  /** What to type or do; left out where there is nothing to do. */
  readonly advice?: string;
}

/** What checks may look at: what `apply` would do here with these variables. */
export interface DoctorContext {
  readonly env: NodeJS.ProcessEnv;
  readonly prepared: PreparedCluster;
  readonly plan: Plan;
}

export type Check = (context: DoctorContext) => readonly Finding[] | Promise<readonly Finding[]>;
