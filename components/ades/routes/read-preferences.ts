import type { FastifyRequest } from "fastify";

/** What a request would like (RFC 7240): names and values in lower case. */
export function readPreferences({ headers }: Pick<FastifyRequest, "headers">): ReadonlyMap<string, string> {
  const parts = [headers["prefer"] ?? []].flat().flatMap((line) => line.split(","));
  return new Map(
    parts.map((part) => {
      const [name = "", value = ""] = part.split(";", 1)[0]?.split("=", 2) ?? [];
      return [name.trim().toLowerCase(), value.trim().replaceAll('"', "").toLowerCase()] as const;
    }),
  );
}

/** Seconds that a client is willing to wait (RFC 7240 §4.3). */
export function readWait(preferences: ReadonlyMap<string, string>): number | undefined {
  const wait = preferences.get("wait");
  return wait !== undefined && /^\d{1,6}$/.test(wait) ? Number(wait) : undefined;
}
