import { resolvePath } from "../load/uri.ts";
import { acceptsNull } from "../model/types.ts";
import type { CwlType } from "../model/types.ts";

export function isBoolean(type: CwlType): boolean {
  return type.kind === "boolean" || (type.kind === "union" && type.members.some(isBoolean));
}

/** A word of the command line as a value of the parameter's type. */
export function parseValue(text: string, type: CwlType, here: string): unknown {
  switch (type.kind) {
    case "boolean":
      return text === "true";
    case "int":
    case "long":
    case "float":
    case "double":
      return text.trim() === "" ? text : Number.isNaN(Number(text)) ? text : Number(text);
    case "File":
    case "Directory":
      return { class: type.kind, location: resolvePath(text, here) };
    case "array":
      return [parseValue(text, type.items, here)];
    case "union":
      return text === "null" && acceptsNull(type)
        ? null
        : parseValue(text, type.members.find((member) => member.kind !== "null") ?? { kind: "string" }, here);
    case "record":
      return JSON.parse(text) as unknown;
    case "null":
    case "string":
    case "enum":
    case "Any":
      return text;
  }
}
