export { type IsolationReport, findIsolation, listIsolations } from "./find-isolation.ts";
export { SYSTEM_PATH, findProgram } from "./find-program.ts";
export type { Command, Isolation, Sandbox, SandboxLimits, View } from "./sandbox.ts";
export { SEALED, type SystemView, installCommand, showSystem, noBubblewrapReason } from "./system-arguments.ts";
