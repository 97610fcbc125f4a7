import type { CwlType } from "../model/types.ts";
import { acceptsNull } from "../model/types.ts";

const numbers = new Set(["int", "long", "float", "double"]);

/**
 * Whether some value of the type `from` could be accepted where `to` is wanted. Values are checked again when they are
 * there, so only what can never work is refused.
 */
export function canAssign(from: CwlType, to: CwlType): boolean {
  return assign(from, to, 0);
}

function assign(from: CwlType, to: CwlType, depth: number): boolean {
  // Types that hold themselves: what agreed this far is taken to agree.
  if (depth > 20 || from.kind === "Any" || to.kind === "Any") {
    return true;
  }
  if (from.kind === "union") {
    const real = from.members.filter((member) => member.kind !== "null");
    return real.length === 0 ? acceptsNull(to) : real.some((member) => assign(member, to, depth + 1));
  }
  if (to.kind === "union") {
    return to.members.some((member) => assign(from, member, depth + 1));
  }
  if (from.kind === "array" && to.kind === "array") {
    return assign(from.items, to.items, depth + 1);
  }
  if (from.kind === "record" && to.kind === "record") {
    return to.fields.every((field) => {
      const given = from.fields.find((item) => item.name === field.name);
      return given === undefined ? acceptsNull(field.type) : assign(given.type, field.type, depth + 1);
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
