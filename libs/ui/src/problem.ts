/** What a service of the platform says about a failed request: problem details (RFC 9457). */
export interface Problem {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  /** Mistakes in what was sent, one a field. */
  readonly errors?: readonly { readonly path?: string; readonly message?: string }[];
  readonly requestId?: string;
  readonly [extension: string]: unknown;
}

/** A request that was answered with an error, or not at all (status 0). */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly status: number;
  readonly problem: Problem;

  constructor(status: number, problem: Problem, options?: ErrorOptions) {
    super(problem.detail ?? problem.title ?? `The request failed with status ${status}.`, options);
    this.status = status;
    this.problem = problem;
  }
}

/** Makes the error of an answer that is not ok; its body may be problem details, the JSON of another protocol, or text. */
export async function toRequestError(response: Response): Promise<RequestError> {
  const text = await response.text().catch(() => "");
  const type = response.headers.get("content-type") ?? "";
  return new RequestError(response.status, readProblem(text, type, response.statusText));
}

function readProblem(text: string, type: string, statusText: string): Problem {
  if (type.includes("json")) {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === "object" && value !== null) {
        return describeJson(value as Record<string, unknown>);
      }
    } catch {
      // A body that breaks off says less than its status.
    }
  }
  const title = statusText === "" ? "The request failed" : statusText;
  const isShort = type.startsWith("text/plain") && text.length > 0 && text.length < 500;
  return isShort ? { title, detail: text.trim() } : { title };
}

/** Problem details as they are; the errors of OAuth and of older services by their own names. */
function describeJson(body: Record<string, unknown>): Problem {
  const { detail: told, message } = body;
  if (told !== undefined && typeof told !== "string" && typeof message === "string") {
    // Workspaces: what is wrong with each field as a list, and a sentence for people.
    return { ...body, detail: message };
  }
  if (told !== undefined || body["title"] !== undefined) {
    return body;
  }
  // Registries list their errors.
  const listed = Array.isArray(body["errors"]) ? (body["errors"] as { message?: unknown }[]) : [];
  const messages = listed.flatMap(({ message }) => (typeof message === "string" ? [message] : []));
  if (messages.length > 0) {
    const { errors: _, ...rest } = body;
    return { ...rest, detail: messages.join("\n") };
  }
  const detail = [body["error_description"], body["message"], body["error"]].find((text) => typeof text === "string");
  return { ...body, ...(typeof detail === "string" && { detail }) };
}
