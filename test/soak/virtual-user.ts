import type { Fetch } from "../../cli/targets/deployment-fetch.ts";
import type { Recorder } from "./record.ts";

export interface TestResponse {
  readonly status: number;
  readonly location: string | undefined;
  readonly cookies: readonly string[];
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
  readonly json: () => any;
}

/** Asks as a client would, and keeps a record of what fails. */
export interface VirtualUser {
  /** The answer, or undefined when there was none or it was a 5xx. */
  readonly send: (actor: string, url: string, init?: Parameters<Fetch>[1]) => Promise<TestResponse | undefined>;
}

const TIMEOUT_MS = 60_000;

export function createVirtualUser(fetch: Fetch, recorder: Recorder): VirtualUser {
  return {
    send: async (actor, url, init) => {
      recorder.request();
      try {
        const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS), ...init });
        const text = await response.text();
        if (response.status >= 500) {
          recorder.failure(actor, String(response.status));
          return undefined;
        }
        const location = response.headers.get("location") ?? undefined;
        const cookies = response.headers.getSetCookie();
        return { status: response.status, location, cookies, text, json: () => JSON.parse(text) };
      } catch (error) {
        const { code, name, cause } = error as NodeJS.ErrnoException;
        recorder.failure(actor, (cause as NodeJS.ErrnoException | undefined)?.code ?? code ?? name);
        return undefined;
      }
    },
  };
}
