import { type Evaluator, type Policy, type PolicySet, createEvaluator } from "@swath/auth";
import type { ProtectedResource } from "@swath/manifest";

import { Refusal } from "../errors.ts";
import type { EndTunnels, PolicySource } from "./policy-source.ts";
import { createRevocations } from "./revocations.ts";

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
}

/** Decides by the declared rules alone: an issuer of someone else knows nothing of our resources. */
export function createDeclaredPolicies({ clients, endTunnels, clock }: DeclaredPoliciesDeps): PolicySource {
  const evaluators = new Map<string, Evaluator>(
    [...clients].map(([clientId, declared]) => [clientId, createEvaluator(toPolicySet(clientId, declared))]),
  );
  const revocations = createRevocations(clock);
  return {
    peek: (clientId) => evaluators.get(clientId),
    load: (clientId) => Promise.reject(new Refusal("FORBIDDEN", { because: `nothing is declared for ${clientId}` })),
    peekToken: (verified) => (revocations.isRevoked(verified) ? "revoked" : "good"),
    isTokenGood: (verified) => Promise.resolve(!revocations.isRevoked(verified)),
    endSession: (verified) => {
      revocations.endToken(verified.token);
      endTunnels(({ token }) => token === verified.token);
    },
    endLogin: ({ sessionId, userId }) => {
      if (sessionId === undefined) {
        revocations.endUser(userId);
      } else {
        revocations.endSession(sessionId);
        if (userId !== undefined) {
          revocations.endUnnamedSessions(userId);
        }
      }
      endTunnels(revocations.isRevoked);
    },
    ready: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
