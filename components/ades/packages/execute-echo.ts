import { Ajv } from "ajv";
import addFormats from "ajv-formats";

import { type AdesSettings, allowedPrivate } from "../execution/storage.ts";
import type { InputDescription, Schema } from "./describe.ts";
import { ECHO, PAUSE, outputOf } from "./echo.ts";
import { fetchInput } from "./fetch-input.ts";
import { refuseProblems } from "./input-problems.ts";
import { unwrapValue } from "./qualified-value.ts";

/** Seconds that an echo takes. */
export function pauseOf(inputs: Readonly<Record<string, unknown>>): number {
  const value = unwrapValue(inputs[PAUSE]);
  return typeof value === "number" ? value : 0;
}

/** A value with what is known of its form. */
interface Given {
  readonly value: unknown;
  readonly mediaType?: string;
  readonly encoding?: string;
}

interface Problem {
  readonly path: string;
  readonly message: string;
}

type Settings = Pick<AdesSettings, "DATA_DIR" | "ALLOW_PRIVATE">;

/**
 * What echo answers. Values are checked against their schemas; references are fetched first (OGC 18-062r2 /req/core/process-execute-inputs).
 * @throws {OgcError} 400 with every input that is unknown or does not fit
 */
export async function executeEcho(
  settings: Settings,
  inputs: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  // The first mistake of a value is enough: a list of 100,000 wrong items would be as many messages.
  const ajv = new Ajv({ strict: false, allErrors: false, logger: false });
  addFormats.default(ajv);
  const problems: Problem[] = [];
  const outputs: [string, unknown][] = [];
  for (const [name, provided] of Object.entries(inputs)) {
    const input = Object.hasOwn(ECHO.inputs, name) ? ECHO.inputs[name] : undefined;
    if (input === undefined) {
      const known = Object.keys(ECHO.inputs).join(", ");
      problems.push({ path: `inputs.${name}`, message: `is not an input of this process; allowed: ${known}` });
      continue;
    }
    let values = await readValues(settings, input, provided);
    let wrong = checkAll(ajv, input, values, `inputs.${name}`);
    if (wrong.length > 0 && isObject(provided) && checkAll(ajv, input, [{ value: provided }], "").length === 0) {
      // An object that has a member "value" of its own.
      values = [{ value: provided }];
      wrong = [];
    }
    problems.push(...wrong);
    const echoed = values.map(toOutput);
    if (name !== PAUSE) {
      outputs.push([outputOf(name), takesSeveral(input) ? echoed : echoed[0]]);
    }
  }
  if (problems.length > 0) {
    refuseProblems(problems);
  }
  return Object.fromEntries(outputs);
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const takesSeveral = ({ maxOccurs = 1 }: InputDescription): boolean => maxOccurs > 1;

/** The values of an input: one, or each of a list where several may be given. */
async function readValues(settings: Settings, input: InputDescription, provided: unknown): Promise<readonly Given[]> {
  const values = takesSeveral(input) ? [provided].flat() : [provided];
  return Promise.all(values.map((value) => readValue(settings, value)));
}

/** A plain value, a qualified one, or what is at an address. */
async function readValue(settings: Settings, provided: unknown): Promise<Given> {
  if (typeof provided !== "object" || provided === null || Array.isArray(provided)) {
    return { value: provided };
  }
  const { href, type, value, mediaType, encoding } = provided as Readonly<Record<string, unknown>>;
  if (typeof href === "string") {
    const { DATA_DIR: folder } = settings;
    return fetchInput(
      { href, ...(typeof type === "string" && { type }) },
      folder,
      allowedPrivate(settings as AdesSettings),
    );
  }
  if (value === undefined) {
    return { value: provided };
  }
  return {
    value,
    ...(typeof mediaType === "string" && { mediaType }),
    ...(typeof encoding === "string" && { encoding }),
  };
}

function checkAll(ajv: Ajv, input: InputDescription, values: readonly Given[], path: string): readonly Problem[] {
  const { maxOccurs = 1 } = input;
  if (values.length > maxOccurs) {
    return [{ path, message: `has ${values.length} values; allowed: ${maxOccurs}` }];
  }
  return values.flatMap((value, index) => {
    const wrong = check(ajv, input.schema, value);
    return wrong === undefined ? [] : [{ path: values.length > 1 ? `${path}[${index}]` : path, message: wrong }];
  });
}

/** What is wrong with a value; `undefined` when it fits one of the schema's forms. */
function check(ajv: Ajv, schema: Schema, { value, mediaType }: Given): string | undefined {
  const forms = (schema["oneOf"] as readonly Schema[] | undefined) ?? [schema];
  const baseOf = (type: unknown) => String(type).split(";", 1)[0]?.trim().toLowerCase();
  const meant = forms.filter(
    ({ contentMediaType }) =>
      mediaType === undefined || contentMediaType === undefined || baseOf(contentMediaType) === baseOf(mediaType),
  );
  if (meant.length === 0) {
    return `is ${mediaType}; allowed: ${forms.map(({ contentMediaType }) => contentMediaType).join(", ")}`;
  }
  const errors = meant.map((form) =>
    ajv.validate(form, value) ? undefined : ajv.errorsText(ajv.errors, { dataVar: "the value" }),
  );
  return errors.includes(undefined) ? undefined : errors.join(", or ");
}

/** What was qualified comes back qualified, so that its form is known. */
function toOutput({ value, mediaType, encoding }: Given): unknown {
  return mediaType === undefined ? value : { value, mediaType, ...(encoding === "base64" && { encoding }) };
}
