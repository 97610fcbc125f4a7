import { type PolicySet, createEvaluator } from "@swath/auth";
import { LRUCache } from "lru-cache";
import type pg from "pg";

import type { Change, ChangeFeed } from "../store/changes.ts";
import type { Client } from "../store/clients.ts";
import { findResourceServer } from "../store/resource-servers.ts";
import { loadPolicySet } from "./load-policy-set.ts";

type Evaluator = ReturnType<typeof createEvaluator>;

/** A client's rules, ready to decide by. */
export interface LoadedPolicies {
  readonly set: PolicySet;
  readonly evaluator: Evaluator;
  /** Decides as if everything had to be granted, whatever the mode of the resource server is. */
  readonly enforcing: Evaluator;
}

export interface PolicyCache {
  /** The rules as they are now: they are read again where their version is another. */
  readonly load: (realmId: string, client: Client) => Promise<LoadedPolicies>;
  readonly close: () => void;
}

const MAX_CLIENTS = 100;
/** Changes of what rules refer to: roles, groups and clients by their names. */
const TOUCHES_RULES: readonly Change["kind"][] = ["realm", "client", "policy"];

/** Keeps the rules of the clients that were asked about last. */
export function createPolicyCache(pool: pg.Pool, changes: Pick<ChangeFeed, "events">): PolicyCache {
  const kept = new LRUCache<string, { readonly version: number; readonly policies: LoadedPolicies }>({
    max: MAX_CLIENTS,
  });
  let epoch = 0;
  const clear = () => {
    epoch += 1;
    kept.clear();
  };
  const onChange = ({ kind }: Change) => {
    if (TOUCHES_RULES.includes(kind)) {
      clear();
    }
  };
  changes.events.on("change", onChange);
  changes.events.on("lost", clear);
  return {
    load: async (realmId, client) => {
      const version = (await findResourceServer(pool, client.id))?.version;
      const known = kept.get(client.id);
      if (known !== undefined && known.version === version) {
        return known.policies;
      }
      const started = epoch;
      const set = await loadPolicySet(pool, realmId, client);
      const policies = {
        set,
        evaluator: createEvaluator(set),
        enforcing: createEvaluator({ ...set, enforcementMode: "ENFORCING" }),
      };
      // The version was read first: what was read after it is at least as new. A change in between is read again.
      if (version !== undefined && started === epoch) {
        kept.set(client.id, { version, policies });
      }
      return policies;
    },
    close: () => {
      changes.events.off("change", onChange);
      changes.events.off("lost", clear);
    },
  };
}
