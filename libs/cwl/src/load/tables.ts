import { fieldTable } from "./fields.ts";
import type { FieldTable } from "./fields.ts";

const process = {
  id: "string",
  class: "string!",
  label: "string",
  doc: "string|list",
  cwlVersion: "string",
  inputs: "list|map!",
  outputs: "list|map!",
  requirements: "list|map",
  hints: "list|map",
  intent: "list @v1.2",
};

/** Fields of each process class (CWL CommandLineTool and Workflow descriptions, section "fields"). */
export const processTables: { readonly [name: string]: FieldTable } = {
  CommandLineTool: fieldTable(process, {
    baseCommand: "string|list",
    arguments: "list",
    stdin: "string",
    stdout: "string",
    stderr: "string",
    successCodes: "list",
    temporaryFailCodes: "list",
    permanentFailCodes: "list",
  }),
  ExpressionTool: fieldTable(process, { expression: "string!" }),
  Workflow: fieldTable(process, { steps: "list|map!" }),
  Operation: fieldTable(process),
};

const parameter = {
  id: "string!",
  type: "any",
  label: "string",
  doc: "string|list",
  secondaryFiles: "any",
  streamable: "boolean",
  format: "string|list",
};

export const inputTable = fieldTable(parameter, {
  type: "any",
  default: "any",
  inputBinding: "map",
  loadContents: "boolean @v1.1",
  loadListing: "string @v1.1 =no_listing,shallow_listing,deep_listing",
});

export const outputTable = fieldTable(parameter, { outputBinding: "map", format: "string" });

export const workflowOutputTable = fieldTable(parameter, {
  format: "string",
  outputBinding: "map -v1.0",
  outputSource: "string|list",
  linkMerge: "string =merge_nested,merge_flattened",
  pickValue: "string @v1.2 =first_non_null,the_only_non_null,all_non_null",
});

export const stepTable = fieldTable({
  id: "string!",
  in: "list|map!",
  out: "list!",
  run: "string|map!",
  requirements: "list|map",
  hints: "list|map",
  label: "string",
  doc: "string|list",
  scatter: "string|list",
  scatterMethod: "string =dotproduct,nested_crossproduct,flat_crossproduct",
  when: "string|boolean @v1.2",
  loop: "list|map @v1.3",
  outputMethod: "string @v1.3 =last_iteration,all_iterations",
});

/** The same in the reference runner's extension for v1.2. */
export const loopTable = fieldTable({
  class: "string!",
  loopWhen: "string|boolean!",
  loop: "list|map!",
  outputMethod: "string =last,all",
});

const loopInput = {
  id: "string!",
  linkMerge: "string =merge_nested,merge_flattened",
  pickValue: "string =first_non_null,the_only_non_null,all_non_null",
  default: "any",
  valueFrom: "string|number|boolean",
};

/** v1.3 and the reference runner's extension call the same by different names. */
export const loopInputTables = {
  outputSource: fieldTable(loopInput, { outputSource: "string|list" }),
  loopSource: fieldTable(loopInput, { loopSource: "string|list" }),
};

export const stepInputTable = fieldTable({
  id: "string!",
  source: "string|list",
  linkMerge: "string =merge_nested,merge_flattened",
  pickValue: "string @v1.2 =first_non_null,the_only_non_null,all_non_null",
  default: "any",
  valueFrom: "string|number|boolean",
  label: "string @v1.1",
  loadContents: "boolean @v1.1",
  loadListing: "string @v1.1 =no_listing,shallow_listing,deep_listing",
});

export const bindingTable = fieldTable({
  position: "int|string",
  prefix: "string",
  separate: "boolean",
  itemSeparator: "string",
  valueFrom: "string|number|boolean",
  shellQuote: "boolean",
  loadContents: "boolean",
});

export const outputBindingTable = fieldTable({
  glob: "string|list",
  loadContents: "boolean",
  loadListing: "string @v1.1 =no_listing,shallow_listing,deep_listing",
  outputEval: "string|number|boolean",
});

export const fieldOfRecordTable = fieldTable({
  name: "string!",
  id: "string",
  type: "any!",
  label: "string",
  doc: "string|list",
  inputBinding: "map",
  outputBinding: "map",
  secondaryFiles: "any @v1.1",
  streamable: "boolean @v1.1",
  format: "string|list @v1.1",
  loadContents: "boolean @v1.1",
  loadListing: "string @v1.1 =no_listing,shallow_listing,deep_listing",
});

const typeObject = {
  type: "any!",
  name: "string",
  // Packed documents keep the file that a type was imported from in it.
  id: "string",
  label: "string",
  doc: "string|list",
  inputBinding: "map",
  outputBinding: "map -v1.0",
};

export const arrayTable = fieldTable(typeObject, { items: "any!" });
export const recordTable = fieldTable(typeObject, { fields: "list|map" });
export const enumTable = fieldTable(typeObject, { symbols: "list!" });

export const secondaryFileTable = fieldTable({ pattern: "string!", required: "boolean|string" });

const amount = "int|string";

/** Fields of each requirement. Amounts may be fractions from v1.2 on. */
export function requirementTables(version: string): { readonly [name: string]: FieldTable } {
  return version >= "v1.2" ? tables12 : tables10;
}

function makeTables(quantity: string): { readonly [name: string]: FieldTable } {
  const base = { class: "string!" };
  return {
    InlineJavascriptRequirement: fieldTable(base, { expressionLib: "list|string" }),
    SchemaDefRequirement: fieldTable(base, { types: "list!" }),
    DockerRequirement: fieldTable(base, {
      dockerPull: "string",
      dockerLoad: "string",
      dockerFile: "string",
      dockerImport: "string",
      dockerImageId: "string",
      dockerOutputDirectory: "string",
    }),
    SoftwareRequirement: fieldTable(base, { packages: "list|map!" }),
    InitialWorkDirRequirement: fieldTable(base, { listing: "any!" }),
    EnvVarRequirement: fieldTable(base, { envDef: "list|map!" }),
    ShellCommandRequirement: fieldTable(base),
    ResourceRequirement: fieldTable(base, {
      coresMin: quantity,
      coresMax: quantity,
      ramMin: quantity,
      ramMax: quantity,
      tmpdirMin: quantity,
      tmpdirMax: quantity,
      outdirMin: quantity,
      outdirMax: quantity,
    }),
    SubworkflowFeatureRequirement: fieldTable(base),
    ScatterFeatureRequirement: fieldTable(base),
    MultipleInputFeatureRequirement: fieldTable(base),
    StepInputExpressionRequirement: fieldTable(base),
    LoadListingRequirement: fieldTable(base, { loadListing: "string =no_listing,shallow_listing,deep_listing" }),
    WorkReuse: fieldTable(base, { enableReuse: "boolean|string" }),
    NetworkAccess: fieldTable(base, { networkAccess: "boolean|string" }),
    InplaceUpdateRequirement: fieldTable(base, { inplaceUpdate: "boolean" }),
    ToolTimeLimit: fieldTable(base, { timelimit: "int|string!" }),
    "http://commonwl.org/cwltool#Secrets": fieldTable(base, { secrets: "list!" }),
    "http://commonwl.org/cwltool#MPIRequirement": fieldTable(base, { processes: "int|string!" }),
    "http://commonwl.org/cwltool#ShmSize": fieldTable(base, { shmSize: "string!" }),
    "http://commonwl.org/cwltool#CUDARequirement": fieldTable(base, {
      cudaVersionMin: "string!",
      cudaComputeCapability: "string|list!",
      cudaDeviceCountMin: "int|string",
      cudaDeviceCountMax: "int|string",
    }),
  };
}

const tables10 = makeTables(amount);
const tables12 = makeTables("number|string");

/** Requirements that came with v1.1; before, implementations had them under other names. */
export const since11 = new Set([
  "LoadListingRequirement",
  "WorkReuse",
  "NetworkAccess",
  "InplaceUpdateRequirement",
  "ToolTimeLimit",
]);
