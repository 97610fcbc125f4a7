import { type Evaluator, type Policy, type PolicySet, createEvaluator } from "@swath/auth";
import type { ProtectedResource } from "@swath/manifest";
import type { Logger } from "@swath/service";

import { Refusal } from "../errors.ts";
import type { EndTunnels, PolicySource } from "./policy-source.ts";
import { type Ended, createRevocations, hashToken } from "./revocations.ts";
import { shareLogouts } from "./shared-logouts.ts";

/** The rules of a client as the identity service would make them of the same declaration. */
export function toPolicySet(clientId: string, declared: readonly ProtectedResource[]): PolicySet {
  const policies: Policy[] = [];
  const add = (policy: Policy) => {
    policies.push(policy);
    return policy.id;
  };
  const permissions = declared.map(({ name, users = [], roles = [], authenticated = false }, index) => ({
    id: `permission-${index}`,
    name: `${name} Permission`,
    type: "resource" as const,
    resources: [`resource-${index}`],
    scopes: [],
    decisionStrategy: "AFFIRMATIVE" as const,
    policies: [
      ...(users.length === 0
        ? []
        : [add({ id: `user-${index}`, name: `${name} User Policy`, type: "user", users: [], usernames: users })]),
      ...(roles.length === 0
        ? []
        : [
            add({
              id: `role-${index}`,
              name: `${name} Role Policy`,
              type: "role",
              roles: roles.map((role) => ({ role })),
            }),
          ]),
      ...(authenticated
        ? [add({ id: `any-${index}`, name: `${name} Authenticated Policy`, type: "authenticated" })]
        : []),
    ],
  }));
  return {
    version: "declared",
    clientId,
    enforcementMode: "ENFORCING",
    decisionStrategy: "UNANIMOUS",
    resources: declared.map(({ name, uris, scopes = ["view"] }, index) => ({
      id: `resource-${index}`,
      name,
      uris,
      scopes,
    })),
    policies,
    permissions,
  };
}

interface DeclaredPoliciesDeps {
  readonly clients: ReadonlyMap<string, readonly ProtectedResource[]>;
  readonly endTunnels: EndTunnels;
  readonly clock: () => number;
  /** The PostgreSQL that replicas tell each other by; left out where there is one only. */
  readonly databaseUrl?: string | undefined;
  readonly logger: Logger;
}

/** Decides by the declared rules alone: an issuer of someone else knows nothing of our resources. */
export function createDeclaredPolicies(deps: DeclaredPoliciesDeps): PolicySource {
  const { clients, endTunnels, clock, databaseUrl, logger } = deps;
  const evaluators = new Map<string, Evaluator>(
    [...clients].map(([clientId, declared]) => [clientId, createEvaluator(toPolicySet(clientId, declared))]),
  );
  const revocations = createRevocations(clock);
  const onEnded = (ended: Ended) => {
    revocations.end(ended);
    endTunnels(revocations.isRevoked);
  };
  const shared = databaseUrl === undefined ? undefined : shareLogouts({ url: databaseUrl, onEnded, logger });
  const end = async (ended: Ended) => {
    onEnded(ended);
    await shared?.tell(ended).catch((cause: unknown) => {
      // Ended here; who told of it may tell again, until every replica knows.
      throw new Refusal("NOT_SHARED", { cause });
    });
  };
  return {
    peek: (clientId) => evaluators.get(clientId),
    load: (clientId) => Promise.reject(new Refusal("FORBIDDEN", { because: `nothing is declared for ${clientId}` })),
    cachedTokenState: (verified) => (revocations.isRevoked(verified) ? "revoked" : "good"),
    isTokenActive: (verified) => Promise.resolve(!revocations.isRevoked(verified)),
    endSession: ({ token }) => end({ tokenHash: hashToken(token), at: clock() }),
    endLogin: ({ sessionId, userId }) => end({ sessionId, userId, at: clock() }),
    ready: () => Promise.resolve(),
    close: async () => shared?.close(),
  };
}
