import { CwlError } from "../errors.ts";
import type { Evaluator } from "../expressions/evaluate.ts";
import { sortedJson } from "../expressions/evaluate.ts";
import type { ExpressionContext } from "../expressions/parameter-reference.ts";
import { branchFor } from "../inputs/check-value.ts";
import { formatNumber } from "../model/numbers.ts";
import type { Binding, CommandLineTool } from "../model/process.ts";
import type { CwlType } from "../model/types.ts";
import type { Value } from "../model/values.ts";
import { isFileOrDirectory, isObject } from "../model/values.ts";

type SortKey = readonly (number | string)[];

/** One word of a command line; `quote` says whether a shell must take it literally. */
export interface Word {
  readonly text: string;
  readonly quote: boolean;
}

interface Part {
  readonly key: SortKey;
  readonly words: readonly Word[];
}

interface Site {
  readonly evaluator: Evaluator;
  readonly context: Omit<ExpressionContext, "self">;
}

/**
 * The words of a tool's command line: baseCommand, then arguments and bound inputs in the order of their sorting keys
 * (CommandLineTool description, section "Input binding").
 */
export async function buildCommandLine(
  tool: CommandLineTool,
  evaluator: Evaluator,
  context: Omit<ExpressionContext, "self">,
): Promise<Word[]> {
  const site = { evaluator, context };
  const parts: Part[] = [];
  for (const [index, argument] of tool.arguments.entries()) {
    const binding = typeof argument === "string" ? plain(argument) : argument;
    const position = await positionOf(binding, null, site);
    if (binding.valueFrom !== undefined) {
      const value = await evaluator.evaluate(binding.valueFrom, { ...context, self: null });
      parts.push({ key: [position, index], words: render(value, binding) });
    }
  }
  for (const input of tool.inputs) {
    const value = context.inputs[input.name] ?? null;
    await collect(value, input.type, input.binding, input.name, [], site, parts);
  }
  parts.sort((a, b) => compareKeys(a.key, b.key));
  return [...tool.baseCommand.map((text) => ({ text, quote: true })), ...parts.flatMap((part) => part.words)];
}

function plain(valueFrom: string): Binding {
  return { position: 0, prefix: undefined, separate: true, itemSeparator: undefined, valueFrom, shellQuote: true };
}

/** Adds the parts for one value and everything bound inside it. `name` breaks ties between equal positions. */
async function collect(
  value: Value,
  type: CwlType,
  binding: Binding | undefined,
  name: string | number,
  parent: SortKey,
  site: Site,
  parts: Part[],
): Promise<void> {
  if (value === null) {
    return;
  }
  let key = parent;
  if (binding !== undefined) {
    key = [...parent, await positionOf(binding, value, site), name];
    if (binding.valueFrom !== undefined) {
      const made = await site.evaluator.evaluate(binding.valueFrom, { ...site.context, self: value });
      parts.push({ key, words: render(made, binding) });
      return;
    }
  }
  const branch = branchFor(value, type);
  if (branch.kind === "array" && Array.isArray(value)) {
    await collectArray(value, branch.items, branch.binding, binding, name, key, site, parts);
  } else if (branch.kind === "record" && isObject(value) && !isFileOrDirectory(value)) {
    const own = binding ?? branch.binding;
    if (own?.prefix !== undefined) {
      parts.push({ key, words: [{ text: own.prefix, quote: own.shellQuote }] });
    }
    for (const field of branch.fields) {
      await collect((value[field.name] ?? null) as Value, field.type, field.binding, field.name, key, site, parts);
    }
  } else if (binding !== undefined) {
    parts.push({ key, words: render(value, binding) });
  } else if (branch.kind === "enum" && branch.binding !== undefined) {
    parts.push({
      key: [...key, await positionOf(branch.binding, value, site), name],
      words: render(value, branch.binding),
    });
  }
}

/** An array: one joined word, or its prefix followed by each item; the array type's own binding is for the items. */
async function collectArray(
  items: readonly Value[],
  itemType: CwlType,
  itemBinding: Binding | undefined,
  binding: Binding | undefined,
  name: string | number,
  key: SortKey,
  site: Site,
  parts: Part[],
): Promise<void> {
  if (items.length === 0) {
    return;
  }
  if (binding?.itemSeparator !== undefined) {
    parts.push({ key, words: render(items, binding) });
    return;
  }
  if (binding?.prefix !== undefined) {
    parts.push({ key, words: [{ text: binding.prefix, quote: binding.shellQuote }] });
  }
  const own =
    itemBinding ??
    (binding === undefined ? undefined : { ...plain(""), valueFrom: undefined, shellQuote: binding.shellQuote });
  for (const [index, item] of items.entries()) {
    // Without a binding of the array itself, items sort by their own position and then by the name of the array.
    const itemKey = binding === undefined ? key : [...key, index];
    await collect(
      item,
      itemType,
      own,
      binding === undefined ? `${name}/${String(index).padStart(9, "0")}` : index,
      itemKey,
      site,
      parts,
    );
  }
}

async function positionOf(binding: Binding, self: Value, site: Site): Promise<number> {
  if (typeof binding.position === "number") {
    return binding.position;
  }
  const value = await site.evaluator.evaluate(binding.position, { ...site.context, self });
  if (value === null) {
    return 0;
  }
  const position = typeof value === "string" ? Number(value) : value;
  if (typeof position !== "number" || !Number.isInteger(position)) {
    throw new CwlError("expression", `the position ${binding.position} gave ${sortedJson(value)}, which is no integer`);
  }
  return position;
}

/** The words that a value and its binding make. */
function render(value: Value, binding: Binding): Word[] {
  const word = (text: string): Word => ({ text, quote: binding.shellQuote });
  const { prefix } = binding;
  if (value === null || value === false) {
    return [];
  }
  if (value === true) {
    return prefix === undefined ? [] : [word(prefix)];
  }
  if (Array.isArray(value)) {
    const items = (value as readonly Value[]).filter((item) => item !== null).map(wordText);
    if (items.length === 0) {
      return [];
    }
    if (binding.itemSeparator === undefined) {
      return [...(prefix === undefined ? [] : [prefix]), ...items].map(word);
    }
    return withPrefix(items.join(binding.itemSeparator), binding).map(word);
  }
  if (isObject(value) && !isFileOrDirectory(value)) {
    return prefix === undefined ? [] : [word(prefix)];
  }
  return withPrefix(wordText(value), binding).map(word);
}

function withPrefix(text: string, binding: Binding): string[] {
  if (binding.prefix === undefined) {
    return [text];
  }
  return binding.separate ? [binding.prefix, text] : [binding.prefix + text];
}

function wordText(value: Value): string {
  if (isFileOrDirectory(value)) {
    if (value.path === undefined) {
      throw new CwlError(
        "process-failed",
        `${value.class} ${value.basename ?? ""} is on the command line but was not staged`,
      );
    }
    return value.path;
  }
  return typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "bigint"
      ? formatNumber(value)
      : sortedJson(value);
}

/** Numbers before strings, shorter before longer when one starts the other. */
function compareKeys(a: SortKey, b: SortKey): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const [x, y] = [a[index] ?? 0, b[index] ?? 0];
    if (x !== y) {
      if (typeof x !== typeof y) {
        return typeof x === "number" ? -1 : 1;
      }
      return x < y ? -1 : 1;
    }
  }
  return a.length - b.length;
}

/** One line for `/bin/sh -c`, with everything quoted that has to be. */
export function shellLine(words: readonly Word[]): string {
  return words.map((word) => (word.quote ? shellQuote(word.text) : word.text)).join(" ");
}

export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}
