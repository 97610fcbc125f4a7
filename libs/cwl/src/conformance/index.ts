export { differences } from "./differences.ts";
export { loadConformanceTests } from "./load-tests.ts";
export type { ConformanceTest } from "./load-tests.ts";
export { runConformanceTest, runConformanceTests } from "./run-tests.ts";
export type { TestResult, TestRunOptions, TestState } from "./run-tests.ts";
