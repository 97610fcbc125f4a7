import type { FastifyRequest } from "fastify";

/** Fields of a form; one that came twice counts as none. */
export function readFields({ body }: Pick<FastifyRequest, "body">): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries((body ?? {}) as Readonly<Record<string, unknown>>).filter(
      (field): field is [string, string] => typeof field[1] === "string",
    ),
  );
}
