import type { Server } from "node:http";

import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
  fastify,
} from "fastify";

import { auditRequest } from "./audit-requests.ts";
import { nameLocalCallers } from "./caller-address.ts";
import { refuseHostileText } from "./hostile-text.ts";
import { createJsonBodyParser } from "./json-body.ts";
import { lingerOnUnreadBodies } from "./linger.ts";
import type { Logger } from "./log.ts";
import { factsOf } from "./parse-json.ts";
import { Problem, toProblem } from "./problem.ts";
import { noteRoute } from "./route-list.ts";
import { createValidatorCompiler } from "./validation.ts";

export { createJsonBodyParser } from "./json-body.ts";
export { parseForm } from "./parse-form.ts";

/**
 * A Fastify application with the house's habits: request log and ids, problem details for every error
 * (`application/problem+json`, RFC 9457), bounded JSON bodies, `/healthz`. Listens on nothing; `app.server` goes to `runService`.
 */
export function createApp(
  logger: Logger,
  {
    keepsSlashes = false,
    rewriteUrl,
    ...options
  }: Pick<FastifyServerOptions, "bodyLimit" | "routerOptions" | "requestTimeout" | "rewriteUrl"> & {
    /** Paths hold names in which repeated slashes count, such as keys of objects. Elsewhere they become one, as known ingresses do it. */
    readonly keepsSlashes?: boolean;
  } = {},
): FastifyInstance {
  const rewrite = keepsSlashes ? rewriteUrl : mergeSlashesBefore(rewriteUrl);
  const app: FastifyInstance = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    // One line a request, written below, instead of two.
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: "x-request-id",
    trustProxy: true,
    ...(rewrite && { rewriteUrl: rewrite }),
    // Addresses that the router cannot read come here, past every hook and handler.
    frameworkErrors: (error, request, reply) => {
      const problem = toProblem(error);
      void (reply as FastifyReply)
        .code(problem.status)
        .type("application/problem+json")
        .send(JSON.stringify({ ...problem.body, instance: request.url.slice(0, 1000) }));
    },
    ...options,
  });

  // Plain text would be a body without any field, and every default would apply.
  app.removeContentTypeParser(["application/json", "text/plain"]);
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, createJsonBodyParser());
  lingerOnUnreadBodies(app.server);
  nameLocalCallers(app);
  noteRoutes(app);
  giveTurns(app);
  refuseHostileText(app);
  app.setValidatorCompiler(createValidatorCompiler());
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error);
    if (problem.status >= 500) {
      request.log.error({ err: error }, "request failed");
    }
    const validation = validationErrors(error);
    const body = {
      ...problem.body,
      instance: request.url,
      ...(validation && { errors: validation }),
      requestId: request.id,
    };
    return reply
      .code(problem.status)
      .headers(problem.headers)
      .type("application/problem+json")
      .send(JSON.stringify(body));
  });
  app.addHook("onSend", async (request, reply) => {
    if (reply.statusCode === 413) {
      // A proxy in front keeps its connection: the rest of the body is read.
      void reply.removeHeader("connection");
    }
    if (!reply.hasHeader("x-content-type-options")) {
      void reply.header("x-content-type-options", "nosniff");
    }
    // Pages have a policy of their own; what is none shows nothing, whoever puts it into a frame.
    if (!reply.hasHeader("content-security-policy")) {
      void reply.header("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
    }
    if (request.protocol === "https" && !reply.hasHeader("strict-transport-security")) {
      void reply.header("strict-transport-security", "max-age=31536000");
    }
  });
  app.setNotFoundHandler((request) => {
    throw new Problem(404, `There is nothing at ${request.method} ${request.url}.`);
  });
  app.addHook("onResponse", (request, reply, done) => {
    auditRequest(request, reply);
    if (request.url !== "/healthz") {
      // Paths only: query strings may carry signatures and codes.
      const path = request.url.split("?", 1)[0];
      request.log.info(
        { method: request.method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
        "request",
      );
    }
    done();
  });
  app.get("/healthz", { schema: { hide: true } as object }, () => ({ status: "ok" }));
  return app;
}

/** Tells the management listener what the application serves. */
function noteRoutes(app: FastifyInstance): void {
  app.addHook("onRoute", ({ method, url, schema }) => {
    const path = url.replaceAll(/:(\w+)(?:\([^)]*\))?/g, "{$1}").replace(/\*$/, "{rest}");
    for (const name of [method].flat().filter((one) => one !== "HEAD")) {
      noteRoute({ method: name, path, ...(schema && { schema }) });
    }
  });
}

/** Bodies of more bytes or values are large: each step over one takes milliseconds. */
const LARGE_BYTES = 256 << 10;
const LARGE_VALUES = 10_000;

/** Lets others have their turn between the steps that go over a large body: to parse it, to check it, to handle it. */
function giveTurns(app: FastifyInstance): void {
  const give = ({ body, headers }: FastifyRequest, _reply: unknown, done: () => void): void => {
    const isLarge =
      Number(headers["content-length"] ?? 0) > LARGE_BYTES ||
      (typeof body === "string" && body.length > LARGE_BYTES) ||
      (factsOf(body)?.values ?? 0) > LARGE_VALUES;
    if (isLarge) {
      setImmediate(done);
    } else {
      done();
    }
  };
  app.addHook("preValidation", give);
  app.addHook("preHandler", give);
}

/** The application's server, once its plugins are loaded and its routes compiled. */
export async function readyServer(app: FastifyInstance): Promise<Server> {
  await app.ready();
  return app.server;
}

interface ValidationItem {
  readonly instancePath?: string;
  readonly message?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

function validationErrors(error: unknown): readonly { path: string; message: string }[] | undefined {
  if (!(error instanceof Error) || !("validation" in error) || !Array.isArray(error.validation)) {
    return undefined;
  }
  const where = "validationContext" in error ? String(error.validationContext) : "body";
  return error.validation.map(({ instancePath = "", message = "is not valid", params }: ValidationItem) => {
    const unknown = params?.["additionalProperty"];
    return typeof unknown === "string"
      ? { path: `${where}${instancePath}/${unknown}`, message: "is not a field of this request" }
      : { path: `${where}${instancePath}`, message };
  });
}

type RewriteUrl = NonNullable<FastifyServerOptions["rewriteUrl"]>;

function mergeSlashesBefore(next: RewriteUrl | undefined): RewriteUrl {
  return function mergeAndRewrite(request) {
    request.url = mergeSlashes(request.url ?? "/");
    return next?.call(this, request) ?? request.url;
  };
}

/** Repeated slashes of a path as one; the query stays as it is. */
function mergeSlashes(url: string): string {
  const end = url.indexOf("?");
  const path = end < 0 ? url : url.slice(0, end);
  return path.includes("//") ? path.replaceAll(/\/{2,}/g, "/") + (end < 0 ? "" : url.slice(end)) : url;
}
