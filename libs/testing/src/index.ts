export { createAnswerCheck } from "./check-answers.ts";
export { findFreePort, findFreePorts } from "./free-ports.ts";
export { type TestCluster, createTestCluster } from "./test-cluster.ts";
export { waitUntil } from "./wait-until.ts";
export { type CommandResult, runCommand } from "./run-command.ts";
export { compiledCode } from "./compiled-code.ts";
export { dummyServiceOnly } from "./dummy-service-only.ts";
export { openSealed } from "./open-sealed.ts";
export { sendWholeRequest } from "./send-whole-request.ts";
