export { SANDBOX_USER } from "./bubblewrap.ts";
export { type IsolationReport, findIsolation } from "./find-isolation.ts";
export { SYSTEM_PATH, findProgram } from "./find-program.ts";
export { makePrivateFolder } from "./private-folder.ts";
export type { Command, Isolation, Sandbox, SandboxLimits, View } from "./sandbox.ts";
