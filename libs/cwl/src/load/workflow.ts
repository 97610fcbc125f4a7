import type {
  LinkMerge,
  PickValue,
  Process,
  ScatterMethod,
  Source,
  Step,
  StepInput,
  Workflow,
  WorkflowOutput,
} from "../model/process.ts";
import type { LoadListing } from "../model/types.ts";
import { isObject } from "../model/values.ts";
import { CwlError } from "../errors.ts";
import { checkFields, describe, join } from "./fields.ts";
import { asExpression, asList, asStrings, asText, namedObjects } from "./maps.ts";
import type { NamedObject, RawObject } from "./maps.ts";
import { baseOf } from "./origin.ts";
import { buildLoop, loopClass } from "./loop.ts";
import { buildDefault, buildOutput } from "./parameters.ts";
import type { ProcessHead } from "./head.ts";
import { buildRequirements } from "./requirements.ts";
import { location, report } from "./scope.ts";
import type { Scope } from "./scope.ts";
import { stepInputTable, stepTable, workflowOutputTable } from "./tables.ts";
import { fragmentOf, resolveReference, shortName, withoutFragment } from "./uri.ts";

export async function buildWorkflow(scope: Scope, raw: RawObject, head: ProcessHead, path: string): Promise<Workflow> {
  const prefix = fragmentOf(head.id);
  const outputs = namedObjects(scope, raw, "outputs", { subject: "id", predicate: "type", path }).map(
    (item): WorkflowOutput => ({
      ...buildOutput(scope, item, workflowOutputTable),
      ...buildSink(item.object, "outputSource", prefix),
    }),
  );
  const steps: Step[] = [];
  for (const item of namedObjects(scope, raw, "steps", { subject: "id", path })) {
    const step = await buildStep(scope, item, head, prefix);
    if (step !== undefined) {
      steps.push(step);
    }
    await scope.budget.pause(head.id);
  }
  return { class: "Workflow", ...head, outputs, steps };
}

async function buildStep(
  scope: Scope,
  item: NamedObject,
  head: ProcessHead,
  prefix: string,
): Promise<Step | undefined> {
  const { object, name, path } = item;
  checkFields(scope, object, `the step "${name}"`, stepTable, path);
  const inputs = namedObjects(scope, object, "in", { subject: "id", predicate: "source", path }).map(
    (input): StepInput => {
      checkFields(scope, input.object, `the step input "${input.name}"`, stepInputTable, input.path);
      return {
        name: input.name,
        ...buildSink(input.object, "source", prefix),
        default: buildDefault(scope, input.object),
        valueFrom: asExpression(input.object["valueFrom"]),
        loadContents: input.object["loadContents"] === true,
        loadListing: input.object["loadListing"] as LoadListing | undefined,
        label: asText(input.object["label"]),
        location: location(scope, input.object),
      };
    },
  );
  const run = await buildRun(
    scope,
    item,
    `${withoutFragment(head.id)}#${prefix === "" ? "" : `${prefix}/`}${name}/run`,
  );
  if (run === undefined) {
    return undefined;
  }
  const requirements = buildRequirements(scope, object, "requirements", path);
  const hints = buildRequirements(scope, object, "hints", path);
  const { loop, when } = buildLoop(scope, item, [...requirements, ...hints]);
  return {
    name,
    label: asText(object["label"]),
    doc: asText(object["doc"]),
    run,
    inputs,
    outputs: asList(object["out"]).flatMap((output, index) => {
      const id = typeof output === "string" ? output : isObject(output) ? output["id"] : undefined;
      if (typeof id === "string") {
        return [shortName(id)];
      }
      report(scope, object, "out", `an output of the step is ${describe(output)}`, {
        path: `${path}.out[${index}]`,
        hint: "expected a name",
      });
      return [];
    }),
    requirements: requirements.filter((requirement) => requirement.class !== loopClass),
    hints,
    scatter: asStrings(object["scatter"]).map(shortName),
    scatterMethod: object["scatterMethod"] as ScatterMethod | undefined,
    when:
      when === undefined || when === null ? undefined : typeof when === "boolean" ? `$(${when})` : asExpression(when),
    loop,
    location: location(scope, object),
  };
}

async function buildRun(scope: Scope, item: NamedObject, inlineId: string): Promise<Process | undefined> {
  const { object } = item;
  const run = object["run"];
  const path = join(item.path, "run");
  if (isObject(run)) {
    const id =
      typeof run["id"] === "string" ? resolveReference(hashed(run["id"]), baseOf(run) ?? scope.document.uri) : inlineId;
    return await scope.buildProcess(scope, run, id, path);
  }
  if (typeof run !== "string") {
    return undefined;
  }
  const uri = resolveReference(run, baseOf(object) ?? scope.document.uri);
  return await buildReferenced(scope, uri, object, path);
}

/** Workflows in workflows: deeper than anybody writes them. */
const MAX_NESTING = 100;

/** Builds the process behind a reference, once for each set of schema types that it may see. */
export async function buildReferenced(
  scope: Scope,
  uri: string,
  holder: RawObject,
  path: string,
): Promise<Process | undefined> {
  if (scope.ancestors.includes(uri)) {
    const circle = [...scope.ancestors.slice(scope.ancestors.indexOf(uri)), uri].map((id) =>
      id.slice(id.lastIndexOf("/") + 1),
    );
    report(scope, holder, "run", `the workflow runs itself: ${circle.join(" → ")}`, { path });
    return undefined;
  }
  if (scope.ancestors.length > MAX_NESTING) {
    throw new CwlError("limit", `workflows run workflows more than ${MAX_NESTING} deep, at ${uri}`);
  }
  const build = async (): Promise<Process | undefined> => {
    const document = await scope.store.load(uri);
    const fragment = fragmentOf(uri);
    const raw = fragment === "" ? entryOf(document.root) : document.index.get(fragment);
    if (!isObject(raw)) {
      throw new CwlError(
        "invalid-document",
        `${withoutFragment(uri)} holds no process ${fragment === "" ? "" : `#${fragment}`}`.trim(),
      );
    }
    const version = (document.version ?? scope.version) as Scope["version"];
    return await scope.buildProcess({ ...scope, document, version }, raw, uri, fragment);
  };
  try {
    return await scope.built.getOrBuild(uri, scope, build);
  } catch (error) {
    if (!(error instanceof CwlError) || error.code === "limit" || error.code === "cancelled") {
      throw error;
    }
    for (const problem of error.problems) {
      if (problem.line === undefined) {
        report(scope, holder, "run", problem.message, { path });
      } else {
        scope.problems.push(problem);
      }
    }
    return undefined;
  }
}

/** The process of a file: the file itself, or `#main` of its graph, or the graph's only process. */
export function entryOf(root: unknown): RawObject | undefined {
  const graph =
    isObject(root) && Array.isArray(root["$graph"])
      ? (root["$graph"] as unknown[])
      : Array.isArray(root)
        ? root
        : undefined;
  if (graph === undefined) {
    return isObject(root) ? root : undefined;
  }
  const processes = graph.filter(isObject).filter((item) => typeof item["class"] === "string");
  return (
    processes.find((item) => typeof item["id"] === "string" && fragmentOf(hashed(item["id"])) === "main") ??
    (processes.length === 1 ? processes[0] : undefined)
  );
}

/** An id as a reference: `main` and `#main` both name a fragment. */
export function hashed(id: string): string {
  return id.includes("#") ? id : `#${id}`;
}

function buildSink(
  object: RawObject,
  member: "source" | "outputSource",
  prefix: string,
): { sources: Source[]; sourceIsList: boolean; linkMerge: LinkMerge | undefined; pickValue: PickValue | undefined } {
  return {
    sources: asStrings(object[member]).map((reference) => readSource(reference, prefix)),
    sourceIsList: Array.isArray(object[member]),
    linkMerge: (object["linkMerge"] ?? undefined) as LinkMerge | undefined,
    pickValue: (object["pickValue"] ?? undefined) as PickValue | undefined,
  };
}

/** `input`, `step/out`, `#main/step/out` or a full URI of those → step and port. */
function readSource(reference: string, prefix: string): Source {
  let local = reference.includes("#") ? fragmentOf(reference) : reference;
  if (prefix !== "" && local.startsWith(`${prefix}/`)) {
    local = local.slice(prefix.length + 1);
  }
  const slash = local.lastIndexOf("/");
  return slash === -1
    ? { step: undefined, port: local }
    : { step: shortName(`#${local.slice(0, slash)}`), port: local.slice(slash + 1) };
}
