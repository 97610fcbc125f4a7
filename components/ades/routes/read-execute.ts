import type { FastifyRequest } from "fastify";

import { invalidParameter, noSuchOutput } from "../errors.ts";
import type { JobRequest, Subscriber, RequestedOutput } from "../store/tables.ts";
import { findUnstorable } from "../store/storable.ts";
import { fromEarlierExecute } from "./earlier-bodies.ts";
import { refuseUnknownMembers } from "./refuse-unknown.ts";
import { readPreferences, readWait } from "./read-preferences.ts";

/** An execute request as it was understood (OGC 18-062r2 §7.11). */
interface ExecuteRequest {
  readonly job: JobRequest;
  /** Answered with the job instead of its results. */
  readonly isAsync: boolean;
  /** Seconds after which a synchronous request is answered with the job all the same. */
  readonly wait?: number;
  /** Which preferences were followed (RFC 7240 §3). */
  readonly applied: readonly string[];
}

/** What an execute request has; `id` and `process` name the process once more in requests of some clients, and of coming versions. */
const MEMBERS = ["inputs", "outputs", "response", "mode", "subscriber", "id", "process", "$schema"];

/** Reads the body and the `Prefer` header. @param outputs names of the process's outputs @throws {OgcError} 400 */
export function readExecute(
  request: Pick<FastifyRequest, "body" | "headers">,
  outputs: readonly string[],
): ExecuteRequest {
  const body = fromEarlierExecute(requireObject(request.body, 'The body must be a JSON object: {"inputs": {…}}.'));
  const unstorable = findUnstorable(body, "body");
  if (unstorable !== undefined) {
    throw invalidParameter(`${unstorable.replace(/^body\./, "")}; leave it out.`);
  }
  refuseUnknownMembers(body, MEMBERS, "An execute request");
  const prefer = readPreferences(request);
  const { inputs = {}, response, mode, subscriber, outputs: requested } = body;
  if (response !== undefined && response !== "raw" && response !== "document") {
    throw invalidParameter(`response is ${JSON.stringify(response)}; allowed: raw, document.`);
  }
  if (mode !== undefined && mode !== "sync" && mode !== "async" && mode !== "auto") {
    throw invalidParameter(
      `mode is ${JSON.stringify(mode)}; allowed: sync, async, auto. Better: Prefer: respond-async.`,
    );
  }
  const preferred = { minimal: "raw", representation: "document" }[prefer.get("return") ?? ""];
  const told = readSubscriber(subscriber);
  const chosen = readOutputs(requested, outputs);
  const seconds = readWait(prefer);
  // "respond-async, wait=10" is answered with the results where they come within ten seconds (RFC 7240 §4.3).
  const isAsync = seconds === undefined && (prefer.has("respond-async") || mode === "async");
  return {
    job: {
      inputs: requireObject(inputs, "inputs must be an object of names and values."),
      response: (response ?? preferred ?? "raw") as JobRequest["response"],
      ...(chosen && { outputs: chosen }),
      ...(told && { subscriber: told }),
    },
    isAsync,
    ...(seconds !== undefined && { wait: seconds }),
    applied: [
      ...(isAsync && prefer.has("respond-async") ? ["respond-async"] : []),
      ...(seconds === undefined ? [] : [`wait=${seconds}`]),
      ...(response === undefined && preferred !== undefined ? [`return=${prefer.get("return")}`] : []),
    ],
  };
}

function readOutputs(
  provided: unknown,
  known: readonly string[],
): Readonly<Record<string, RequestedOutput>> | undefined {
  if (provided === undefined) {
    return undefined;
  }
  const outputs = requireObject(provided, "outputs must be an object of names and how each is wanted.");
  return Object.fromEntries(
    Object.entries(outputs).map(([name, requested]) => {
      if (!known.includes(name)) {
        throw noSuchOutput(name, known);
      }
      return [name, readWanted(name, requested)];
    }),
  );
}

function readWanted(name: string, provided: unknown): RequestedOutput {
  const { transmissionMode, format } = requireObject(provided, `outputs.${name} must be an object.`);
  if (transmissionMode !== undefined && transmissionMode !== "value" && transmissionMode !== "reference") {
    throw invalidParameter(
      `outputs.${name}.transmissionMode is ${JSON.stringify(transmissionMode)}; allowed: value, reference.`,
    );
  }
  const { mediaType } = format === undefined ? {} : requireObject(format, `outputs.${name}.format must be an object.`);
  return { ...(transmissionMode && { transmissionMode }), ...(typeof mediaType === "string" && { mediaType }) };
}

/** @throws {OgcError} 400 for what is no http address */
function readSubscriber(provided: unknown): Subscriber | undefined {
  if (provided === undefined) {
    return undefined;
  }
  const fields = requireObject(provided, "subscriber must be an object with successUri, inProgressUri, failedUri.");
  const addresses = (["successUri", "inProgressUri", "failedUri"] as const).flatMap((name) => {
    // The published schema also says successUrl, by mistake.
    const uri = fields[name] ?? (name === "successUri" ? fields["successUrl"] : undefined);
    if (uri === undefined) {
      return [];
    }
    if (
      typeof uri !== "string" ||
      uri.length > 2000 ||
      !URL.canParse(uri) ||
      !/^https?:$/.test(new URL(uri).protocol)
    ) {
      throw invalidParameter(
        `subscriber.${name} is ${JSON.stringify(uri).slice(0, 200)}; allowed: an http or https address.`,
      );
    }
    return [[name, uri] as const];
  });
  if (addresses.length === 0) {
    throw invalidParameter("subscriber names no address; it has successUri, inProgressUri and failedUri.");
  }
  return Object.fromEntries(addresses);
}

function requireObject(value: unknown, otherwise: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidParameter(otherwise);
  }
  return value as Readonly<Record<string, unknown>>;
}
