const PART1 = "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/";
const PART2 = "http://www.opengis.net/def/exceptions/ogcapi-processes-2/1.0/";

/** An exception of OGC API Processes, sent as problem details (OGC 18-062r2 §7.5, OGC 20-044). */
export class OgcError extends Error {
  override readonly name = "OgcError";
  readonly status: number;
  readonly title: string;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    title: string,
    detail: string,
    options: {
      readonly type?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly extensions?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(detail);
    this.status = status;
    this.title = title;
    this.type = options.type ?? title;
    this.headers = options.headers ?? {};
    this.extensions = options.extensions ?? {};
  }
}

export const noSuchProcess = (id: string) =>
  new OgcError(404, "NoSuchProcess", `There is no process ${id}.`, { type: `${PART1}no-such-process` });
export const noSuchJob = (id: string) =>
  new OgcError(404, "NoSuchJob", `There is no job ${id}.`, { type: `${PART1}no-such-job` });
export const resultNotReady = (status: string) =>
  new OgcError(
    404,
    "ResultNotReady",
    status === "created" ? "The job is not started yet; POST to its results starts it." : `The job is still ${status}.`,
    { type: `${PART1}result-not-ready` },
  );
export const noSuchOutput = (name: string, known: readonly string[]) =>
  new OgcError(400, "NoSuchOutput", `There is no output ${name}; the process has: ${known.join(", ") || "none"}.`, {
    type: `${PART1}no-such-output`,
  });
export const resultNotAvailable = () =>
  new OgcError(404, "ResultNotAvailable", "The job has ended and has no results: no outputs were asked for.", {
    type: `${PART1}result-not-available`,
  });
export const invalidQuery = (name: string, value: string, allowed: string) =>
  new OgcError(400, "InvalidQueryParameterValue", `${name} is ${JSON.stringify(value)}; allowed: ${allowed}.`, {
    type: `${PART1}invalid-query-parameter-value`,
  });
export const workflowNotFound = (name: string, known: readonly string[]) =>
  new OgcError(400, "WorkflowNotFound", `The package has no workflow ${name}; it has: ${known.join(", ") || "none"}.`, {
    type: `${PART2}workflow-not-found`,
  });
export const invalidParameter = (detail: string, problems?: unknown) =>
  new OgcError(400, "InvalidParameterValue", detail, {
    ...(problems !== undefined && { extensions: { errors: problems } }),
  });
export const duplicatedProcess = (id: string, location: string) =>
  new OgcError(
    409,
    "DuplicatedProcess",
    `Process ${id} is deployed already; replace it with PUT, or undeploy it first.`,
    {
      type: `${PART2}duplicated-process`,
      headers: { location },
    },
  );
export const immutableProcess = (id: string) =>
  new OgcError(403, "ImmutableProcess", `Process ${id} cannot be changed.`, { type: `${PART2}immutable-process` });
export const unsupportedMediaType = (provided: string, allowed: readonly string[]) =>
  new OgcError(
    415,
    "UnsupportedMediaType",
    `${provided || "No content type"} is not supported; allowed: ${allowed.join(", ")}.`,
    {
      type: `${PART2}unsupported-media-type`,
    },
  );
