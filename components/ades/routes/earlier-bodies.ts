// Bodies of the draft of OGC API Processes that the earlier release line followed, as its clients send them: inputs and outputs are
// lists of {"id": …}, and a package is the input `applicationPackage` of a process that deploys.
import { invalidParameter } from "../errors.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The output that stood for all outputs of a job there. */
const ALL_OUTPUTS = "wf_outputs";

/** The execution unit of a deployment in that form; undefined in any other. */
export function findEarlierUnit(body: unknown): unknown {
  const { inputs } = Object(body) as Fields;
  const found = Array.isArray(inputs) ? inputs.find((item) => Object(item)["id"] === "applicationPackage") : undefined;
  return found === undefined ? undefined : readValue(found);
}

/** An execute request with lists as one with objects. @throws {OgcError} 400 for an item without an id */
export function fromEarlierExecute(body: Fields): Fields {
  const { inputs, outputs, ...rest } = body;
  return {
    ...rest,
    ...(inputs !== undefined && { inputs: isList(inputs) ? readInputs(inputs) : inputs }),
    ...(outputs !== undefined && (isList(outputs) ? readOutputs(outputs) : { outputs })),
  };
}

/** An empty one is of no form: it stays, and is refused as what it is. */
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > 0;

function readInputs(items: readonly unknown[]): Fields {
  const values = new Map<string, unknown[]>();
  for (const item of items) {
    const id = readId(item, "inputs");
    const list = values.get(id) ?? [];
    list.push(readValue(item));
    values.set(id, list);
  }
  return Object.fromEntries([...values].map(([id, list]) => [id, list.length === 1 ? list[0] : list]));
}

function readOutputs(items: readonly unknown[]): Fields {
  const wanted = items.map((item) => [readId(item, "outputs"), item] as const).filter(([id]) => id !== ALL_OUTPUTS);
  if (wanted.length < items.length) {
    return {};
  }
  const entries = wanted.map(([id, item]) => {
    const { transmissionMode } = Object(item) as Fields;
    return [id, transmissionMode === undefined ? {} : { transmissionMode }] as const;
  });
  return { outputs: Object.fromEntries(entries) };
}

function readId(item: unknown, member: string): string {
  const { id } = Object(item) as Fields;
  if (typeof id !== "string" || id === "") {
    throw invalidParameter(`${member} must be an object of names and values, or a list of items that have an id.`);
  }
  return id;
}

/** The value of an item; one behind an address with the media type that its format names. */
function readValue(item: unknown): unknown {
  const { input = item } = Object(item) as Fields;
  const { value, href, format } = Object(input) as Fields;
  const link = href === undefined ? Object(value) : { href };
  const { mimeType } = Object(format) as Fields;
  return typeof link.href === "string"
    ? { href: link.href, ...(typeof mimeType === "string" && { type: mimeType }) }
    : value;
}
