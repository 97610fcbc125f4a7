/** Something about the cluster that the operator can mend; shown as it is. */
export class KubernetesError extends Error {
  override readonly name = "KubernetesError";
}

/** The API server's own words where it gave some, else the error's; never a whole response. */
export function describeApiError(error: unknown): string {
  const body = error instanceof Error && "body" in error ? error.body : undefined;
  const status = typeof body === "string" ? parseStatus(body) : body;
  if (typeof status === "object" && status !== null && "message" in status && typeof status.message === "string") {
    return status.message;
  }
  if (!(error instanceof Error)) {
    return describeEvent(error) ?? String(error);
  }
  const { cause } = error;
  return cause instanceof Error && cause.message !== "" ? `${error.message}: ${cause.message}` : error.message;
}

/** A connection's error event (WebSocket) says what happened in its `message`, which is no property of its own. */
function describeEvent(event: unknown): string | undefined {
  return typeof event === "object" && event !== null && "message" in event && typeof event.message === "string"
    ? event.message
    : undefined;
}

/** HTTP status of an answer of the API server. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : undefined;
}

function parseStatus(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
