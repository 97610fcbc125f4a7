import type { Plan } from "../../../platform/plan.ts";

/** A plan, and what is known of the cluster it is rendered for; `template` knows nothing of one. */
export interface RenderInput extends Plan {
  readonly cluster?: {
    /** The API is of version 1.`minor`. */
    readonly minor: number;
  };
}
