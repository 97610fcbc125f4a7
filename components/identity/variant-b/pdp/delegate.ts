import { createAddressGuard } from "@swath/addresses";

import { requestGuarded } from "../../guarded-request.ts";

/** Other decision points that policies may leave a decision to. */
export interface DelegateClient {
  /** Whether the decision point at `url` permits the request; a failure of it permits nothing. @throws {Error} why there is no answer */
  readonly send: (url: string, body: object, hops: number) => Promise<boolean>;
}

/** Counts how many decision points have passed a request on, so that two that delegate to each other come to an end. */
export const HOPS_HEADER = "x-pdp-hops";
export const MAX_HOPS = 3;
const TIMEOUT_MS = 2000;

/**
 * Asks decision points elsewhere, in the form that this one is asked in.
 * @param allowPrivate hosts and networks that are not public and may be asked all the same
 */
export function createDelegateClient(allowPrivate: readonly string[]): DelegateClient {
  const guard = createAddressGuard({
    allowPrivate,
    refuse: (where, address) =>
      new Error(`${where} leads to ${address}, which is not public; DECISION_ALLOW_PRIVATE can allow it`),
  });
  return {
    send: async (url, body, hops) => {
      const { status, text } = await requestGuarded(new URL(url), {
        guard,
        headers: { "content-type": "application/json", accept: "application/json", [HOPS_HEADER]: String(hops) },
        body: JSON.stringify(body),
        timeoutMs: TIMEOUT_MS,
      });
      if (status !== 200 && status !== 401) {
        throw new Error(`${url} answers ${status}`);
      }
      const { Response } = JSON.parse(text) as { Response?: readonly { readonly Decision?: unknown }[] };
      return status === 200 && Response?.length === 1 && Response[0]?.Decision === "Permit";
    },
  };
}
