export { CONTAINER_FILTER } from "./container-filter.ts";
export { SANDBOX_USER } from "./bubblewrap.ts";
export { type IsolationReport, findIsolation } from "./find-isolation.ts";
export {
  CONTAINER_ENGINES,
  type ContainerEngine,
  type EngineReport,
  findContainerEngine,
} from "./find-container-engine.ts";
export { SYSTEM_PATH, findProgram } from "./find-program.ts";
export { makePrivateFolder } from "./private-folder.ts";
export type { Command, Isolation, Sandbox, SandboxLimits, View } from "./sandbox.ts";
