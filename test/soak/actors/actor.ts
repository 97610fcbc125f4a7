import { setTimeout as sleep } from "node:timers/promises";

import type { Recorder } from "../record.ts";
import type { TestResponse, VirtualUser } from "../virtual-user.ts";

export interface Place {
  readonly virtualUser: VirtualUser;
  readonly recorder: Recorder;
  /** Address of a service: `url("portal", "/")`. */
  readonly url: (service: string, path: string) => string;
  readonly password: string;
}

/** One kind of user at work; `act` is one thing that they do. */
export interface Actor {
  readonly name: string;
  readonly pauseMs: number;
  readonly act: () => Promise<void>;
  /** Once nothing is killed any more: whether all that was acknowledged is there. */
  readonly settle: () => Promise<string>;
}

const TRIES = 40;
const TOKEN_LASTS_MS = 45_000;

/** Repeats a request until it is answered, while services come back; undefined when none came. */
export async function untilAnswered<T = TestResponse>(send: () => Promise<T | undefined>): Promise<T | undefined> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const response = await send();
    if (response !== undefined) {
      return response;
    }
    await sleep(500);
  }
  return undefined;
}

/** The `authorization` of a user's requests, renewed before it ends; undefined while nobody can log in. */
export function createUser({ virtualUser, url, password }: Place, actor: string, username: string) {
  let known: { readonly authorization: string; readonly until: number } | undefined;
  return async (): Promise<Readonly<Record<"authorization", string>> | undefined> => {
    if (known === undefined || known.until < Date.now()) {
      const response = await virtualUser.send(actor, url("identity", "/realms/master/protocol/openid-connect/token"), {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({
          client_id: "admin-cli",
          scope: "openid",
          grant_type: "password",
          username,
          password,
        }).toString(),
      });
      known =
        response?.status === 200
          ? { authorization: `Bearer ${response.json().access_token}`, until: Date.now() + TOKEN_LASTS_MS }
          : undefined;
    }
    return known && { authorization: known.authorization };
  };
}
