import { Problem } from "@swath/service";
import type { FastifyReply } from "fastify";

/** Aborts when the client goes before it has its response. */
export function clientSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const abort = (): void => gone.abort(new Problem(408, "The client went before it had its response."));
  if (raw.destroyed) {
    abort();
  }
  raw.once("close", () => {
    if (!raw.writableFinished) {
      abort();
    }
  });
  return gone.signal;
}
