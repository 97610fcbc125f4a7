import { addressOf } from "../access/circumstances.ts";
import { SUBRESOURCES } from "../operations/table.ts";
import type { RequestEntry } from "../service.ts";
import type { AccessLogs } from "./access-logs.ts";

/** Adds a request of a bucket to its access log, where it has one. */
export function addToAccessLog(logs: AccessLogs, entry: RequestEntry, time: number): void {
  const { address, message, caller } = entry;
  if (address?.bucket === undefined || !logs.isWanted(address.bucket)) {
    return;
  }
  const { headers } = message;
  logs.add(address.bucket, {
    time,
    address: addressOf({ message, headers }),
    requester: caller?.name,
    requestId: entry.requestId,
    method: entry.method,
    target: entry.target,
    key: address.key,
    subresources: address.query.map(([name]) => name).filter((name) => SUBRESOURCES.has(name)),
    status: entry.status,
    errorCode: entry.errorCode,
    sentBytes: entry.sentBytes,
    ms: entry.ms,
    referer: headers.referer,
    userAgent: headers["user-agent"],
    host: headers.host,
    authType: caller?.authType,
  });
}
