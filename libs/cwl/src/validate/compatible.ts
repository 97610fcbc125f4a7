import type { CwlType } from "../model/types.ts";
import { acceptsNull } from "../model/types.ts";

const numbers = new Set(["int", "long", "float", "double"]);

/**
 * Whether some value of the type `from` could be accepted where `to` is wanted. Values are checked again when they are
 * there, so only what can never work is refused.
 */
export function canAssign(from: CwlType, to: CwlType): boolean {
  return assign(from, to, new Map());
}

/** Answers by both types. Types may hold themselves: what is asked while it is being answered is taken to agree. */
type Known = Map<CwlType, Map<CwlType, boolean>>;

function assign(from: CwlType, to: CwlType, known: Known): boolean {
  if (from.kind === "Any" || to.kind === "Any") {
    return true;
  }
  const responses = known.get(from) ?? new Map<CwlType, boolean>();
  known.set(from, responses);
  let response = responses.get(to);
  if (response === undefined) {
    responses.set(to, true);
    response = assignNew(from, to, known);
    responses.set(to, response);
  }
  return response;
}

function assignNew(from: CwlType, to: CwlType, known: Known): boolean {
  if (from.kind === "union") {
    const real = from.members.filter((member) => member.kind !== "null");
    return real.length === 0 ? acceptsNull(to) : real.some((member) => assign(member, to, known));
  }
  if (to.kind === "union") {
    return to.members.some((member) => assign(from, member, known));
  }
  if (from.kind === "array" && to.kind === "array") {
    return assign(from.items, to.items, known);
  }
  if (from.kind === "record" && to.kind === "record") {
    return to.fields.every((field) => {
      const provided = from.fields.find((item) => item.name === field.name);
      return provided === undefined ? acceptsNull(field.type) : assign(provided.type, field.type, known);
    });
  }
  if (from.kind === "enum" && to.kind === "enum") {
    return from.symbols.some((symbol) => to.symbols.includes(symbol));
  }
  return (
    from.kind === to.kind ||
    (numbers.has(from.kind) && numbers.has(to.kind)) ||
    (from.kind === "enum" && to.kind === "string") ||
    (from.kind === "string" && to.kind === "enum")
  );
}

export function withNull(type: CwlType): CwlType {
  return acceptsNull(type) ? type : { kind: "union", members: [{ kind: "null" }, type] };
}
