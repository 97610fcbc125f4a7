import { Problem } from "@swath/service";

/** What the object storage refuses, in words for people. */
export function toStorageProblem(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error) || !("$metadata" in error)) {
    return error;
  }
  const { httpStatusCode: status } = error.$metadata as { httpStatusCode?: number };
  if (status === undefined || status >= 500) {
    return new Problem(502, "Object storage does not answer.", {
      title: "A service is down",
      cause: error,
      extensions: { service: "objstore-console" },
    });
  }
  return new Problem(status === 304 ? 304 : status, MESSAGES.get(error.name) ?? error.message, { cause: error });
}

/** Whether keys were refused that were good a moment ago: they have been replaced. */
export function areKeysRefused(error: unknown): boolean {
  return error instanceof Error && (error.name === "InvalidAccessKeyId" || error.name === "SignatureDoesNotMatch");
}

const MESSAGES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    NoSuchKey: "There is no such file.",
    NotFound: "There is no such file.",
    NoSuchBucket: "The workspace has no storage.",
    AccessDenied: "You may not do this in this workspace.",
    QuotaExceeded: "The workspace is full: delete something, or ask an administrator for a larger quota.",
    EntityTooLarge: "The file is larger than the storage takes in one piece.",
    PreconditionFailed: "There is a file of that name already.",
  }),
);
