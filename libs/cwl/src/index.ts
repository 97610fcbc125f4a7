export { CwlError, formatProblem } from "./errors.ts";
export type { CwlErrorCode, Problem } from "./errors.ts";
export type { RunEvent, RunEventBody, RunEventType } from "./events.ts";
export { checkDocument, loadDocument } from "./load/load.ts";
export type { LoadedDocument, ProcessEntry } from "./load/load.ts";
export type { LoadOptions } from "./load/store.ts";
export type { LoadLimits } from "./load/budget.ts";
export { findExcess, withoutStackTraces } from "./load/yaml-bounds.ts";
export { createLoader } from "./load/loader.ts";
export type { Loader, LoaderOptions } from "./load/loader.ts";
export type { Fetcher } from "./load/fetcher.ts";
export { createHttpFetcher } from "./remote/http-fetcher.ts";
export type { HttpFetcherOptions } from "./remote/http-fetcher.ts";
export { loadInputs, loadOverrides, resolveInputs } from "./run/job-inputs.ts";
export type { JobInputs } from "./run/job-inputs.ts";
export { runProcess } from "./run/run-process.ts";
export type { RunLimits, RunOptions } from "./run/run-options.ts";
export { createCapacity } from "./run/admission.ts";
export type { Capacity } from "./run/admission.ts";
export { removeJournal } from "./run/run-directory.ts";
export { removeTree } from "./files/copy.ts";
export type { Executors } from "./run/context.ts";
export { createProcessExecutor } from "./executors/process.ts";
export { LogTail } from "./executors/log-tail.ts";
export type {
  ContainerRequest,
  Executor,
  JobResult,
  JobSpec,
  Mount,
  ResourceUsage,
  RunControls,
} from "./executors/executor.ts";
export type { DirectoryValue, FileOrDirectory, FileValue, Value, ValueObject } from "./model/values.ts";
export type * from "./model/process.ts";
export type * from "./model/types.ts";
export { formatType } from "./model/types.ts";
export { toJson } from "./model/values.ts";
export { reduceOntology } from "./inputs/reduce-ontology.ts";
export { requestedFormats } from "./inputs/wanted-formats.ts";
export type { RequestedFormats } from "./inputs/wanted-formats.ts";
export { describeProcess } from "./describe.ts";
export type { ParameterDescription, ProcessDescription } from "./describe.ts";
export { estimateResources } from "./estimate.ts";
export type { ResourceEstimate } from "./estimate.ts";
export { graphOf, toDot } from "./graph.ts";
export type { GraphEdge, GraphNode, WorkflowGraph } from "./graph.ts";
export { packDocument } from "./pack/pack.ts";
export { validateDocument } from "./validate/validate.ts";
export type { ValidationReport } from "./validate/validate.ts";
export { createContainerExecutor } from "./executors/container.ts";
export type { ContainerOptions } from "./executors/container.ts";
export { createSingularityExecutor } from "./executors/singularity.ts";
export type { SingularityOptions } from "./executors/singularity.ts";
export { createUdockerExecutor } from "./executors/udocker.ts";
export type { UdockerOptions } from "./executors/udocker.ts";
export { describeRun, writeCrate } from "./provenance/ro-crate.ts";
export { secretInputs } from "./run/secrets.ts";
export { cwlCommands } from "./commands/index.ts";
export type { CommandIo, CwlCommand } from "./commands/command.ts";
