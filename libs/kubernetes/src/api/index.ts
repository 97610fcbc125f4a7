export { type ClusterApi, ClusterApiError, type Query, type WatchEvent, openClusterApi } from "./cluster-api.ts";
export { retryWhileForbidden } from "./retry-while-forbidden.ts";
