import type { Fetch } from "../../cli/targets/deployment-fetch.ts";
import type { Recorder } from "./record.ts";

export interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly cookies: readonly string[];
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
  readonly json: () => any;
}

/** Asks as a client would, and keeps a record of what fails. */
export interface Visitor {
  /** The answer, or undefined when there was none or it was a 5xx. */
  readonly ask: (actor: string, url: string, init?: Parameters<Fetch>[1]) => Promise<Answer | undefined>;
}

const PATIENCE_MS = 60_000;

export function createVisitor(fetch: Fetch, recorder: Recorder): Visitor {
  return {
    ask: async (actor, url, init) => {
      recorder.request();
      try {
        const answer = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(PATIENCE_MS), ...init });
        const text = await answer.text();
        if (answer.status >= 500) {
          recorder.failure(actor, String(answer.status));
          return undefined;
        }
        const location = answer.headers.get("location") ?? undefined;
        const cookies = answer.headers.getSetCookie();
        return { status: answer.status, location, cookies, text, json: () => JSON.parse(text) };
      } catch (error) {
        const { code, name, cause } = error as NodeJS.ErrnoException;
        recorder.failure(actor, (cause as NodeJS.ErrnoException | undefined)?.code ?? code ?? name);
        return undefined;
      }
    },
  };
}
