export { type Settings, type SettingDefinition, SettingsError, defineSettings, loadSettings } from "./settings.ts";
export { type Logger, createLogger } from "./log.ts";
export { isAway } from "./is-away.ts";
export { AWAY, Problem, toProblem, type ProblemBody } from "./problem.ts";
export { type ListenAddress, listen, parseListenAddress } from "./listen.ts";
export { type Management, startManagement } from "./management.ts";
export { type Peer, createPeer, parsePeerUrl } from "./peer.ts";
export { type RunningService, type ServiceContext, runService } from "./run-service.ts";
export { freeChunk, takeChunks } from "./take-chunks.ts";
