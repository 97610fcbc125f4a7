/** What one client may take. Bodies have no limit in size or duration; standing still has. */
export interface Limits {
  /** Bytes of a request's head (431 above). */
  readonly requestHeadBytes: number;
  readonly answerHeadBytes: number;
  /** Milliseconds from a head's first byte to its last (408 above). */
  readonly headTimeout: number;
  /** Milliseconds that a connection may wait for a request's first byte; browsers open connections before they need them. */
  readonly idleTimeout: number;
  /** Milliseconds that a client may send nothing of a body that we are ready to take. */
  readonly bodyStallTimeout: number;
  /** Milliseconds that a client may take nothing of an answer that we are ready to give. */
  readonly answerStallTimeout: number;
  /** Milliseconds that a request is held while its pod does not answer. */
  readonly holdTimeout: number;
  /** The same while the pod is being replaced, which ends by itself. */
  readonly deployTimeout: number;
  /** Requests held at once; more are answered 503 at once. */
  readonly heldRequests: number;
  /** Connections and requests that are open at once. */
  readonly connections: number;
  /** Requests at once on one connection of HTTP/2, those among them that were taken back just now. Browsers make 256 at most. */
  readonly streams: number;
  /** For clients elsewhere; this machine's own may be a proxy in front of many. */
  readonly connectionsPerAddress: number;
}

export const LIMITS: Limits = {
  requestHeadBytes: 32 * 1024,
  answerHeadBytes: 64 * 1024,
  headTimeout: 15_000,
  idleTimeout: 65_000,
  bodyStallTimeout: 60_000,
  answerStallTimeout: 300_000,
  holdTimeout: 5000,
  deployTimeout: 20_000,
  heldRequests: 2048,
  connections: 16_384,
  streams: 1000,
  connectionsPerAddress: 1024,
};
