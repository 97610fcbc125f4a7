export { SEALED, type SystemView, installCommand, showSystem, whyNoBubblewrap } from "./bubblewrap.ts";
export { SYSTEM_PATH, findProgram } from "./find-program.ts";
