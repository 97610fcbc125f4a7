import type { FastifyRequest } from "fastify";

import { badParameter } from "./errors.ts";

/** The parameters of the address, each once. @throws {Problem} 400 for one that occurs twice */
export function readSingle(request: FastifyRequest): Readonly<Record<string, string>> {
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.query as Readonly<Record<string, string | string[]>>)) {
    if (Array.isArray(value)) {
      throw badParameter(name, "occurs twice");
    }
    read[name] = value;
  }
  return read;
}

export function toText(value: unknown, name: string): string {
  if (typeof value !== "string") {
    throw badParameter(name, "must be a text");
  }
  return value;
}

export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badParameter(name, "must be JSON");
  }
}
