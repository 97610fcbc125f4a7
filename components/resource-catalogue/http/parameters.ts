import { badParameter } from "./errors.ts";

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
