export { SEALED, type SystemView, installCommand, showSystem, noBubblewrapReason } from "./bubblewrap.ts";
export { SYSTEM_PATH, findProgram } from "./find-program.ts";
