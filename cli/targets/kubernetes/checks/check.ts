import type { Plan } from "../../../platform/plan.ts";
import type { Connection } from "../api/connection.ts";

export interface CheckInput {
  readonly connection: Connection;
  readonly plan: Plan;
  /** The API's version is 1.`minor`. */
  readonly minor: number;
  readonly env: NodeJS.ProcessEnv;
}

/** Looks for one kind of obstacle and changes nothing. Gives what is wrong and what to do, a sentence each. */
export type Check = (input: CheckInput) => Promise<readonly string[]>;
