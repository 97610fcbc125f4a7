import { RequestError, toRequestError } from "./problem.ts";

interface RequestOptions {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Sent as JSON; a `FormData`, `Blob` or text is sent as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Seconds after which somebody who waits for data is told that there is no answer. What changes something may take longer. */
const TIMEOUT = 15;

/**
 * Asks a service for JSON. `undefined` for an answer without a body.
 * @throws {RequestError} with the problem details of the answer; status 0 when there was no answer
 */
export async function requestJson<T>(url: string, options: RequestOptions = {}): Promise<T> {
  const { method = "GET", signal } = options;
  if (method !== "GET") {
    return readJson(await request(url, options));
  }
  const end = AbortSignal.timeout(TIMEOUT * 1000);
  try {
    return await readJson(
      await request(url, { ...options, signal: signal === undefined ? end : AbortSignal.any([signal, end]) }),
    );
  } catch (error) {
    if (!end.aborted || signal?.aborted === true || error instanceof RequestError) {
      throw error;
    }
    const detail = `There was no answer within ${TIMEOUT} seconds. The service has much to do, or it hangs; try again in a moment.`;
    throw new RequestError(504, { title: "No answer", detail }, { cause: error });
  }
}

async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** As `requestJson`, but gives the answer itself. @throws {RequestError} */
export async function request(url: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", body, headers = {}, signal } = options;
  const isRaw = typeof body === "string" || body instanceof Blob || body instanceof FormData;
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers: {
        accept: "application/json",
        ...(body !== undefined && !isRaw && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true || (error instanceof DOMException && error.name === "AbortError")) {
      throw error;
    }
    const detail =
      "There was no answer. The network is down, or the service is being restarted; try again in a moment.";
    throw new RequestError(0, { title: "No connection", detail }, { cause: error });
  }
  if (!response.ok) {
    throw await toRequestError(response);
  }
  return response;
}
