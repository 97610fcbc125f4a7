import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance, FastifySchema } from "fastify";

import { sendOpenApi } from "./send-openapi.ts";

interface OpenApiOptions {
  readonly title: string;
  readonly version: string;
  /** Markdown, shown at the top of the page. */
  readonly description: string;
  /** Groups of requests in the order they are shown. */
  readonly tags?: readonly { readonly name: string; readonly description: string }[];
  /** Where the interactive page is; `/docs` when left out. */
  readonly page?: string;
  /** Where the document is; `/openapi.json` when left out. */
  readonly document?: string;
  /** Schemas that only describe routes, by method and path as the router has them: of services that check requests by themselves. */
  readonly operations?: Readonly<Record<string, OperationSchema>>;
}

/** What a route's schema says of it. */
export type OperationSchema = FastifySchema & {
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly consumes?: readonly string[];
};

/**
 * The OpenAPI document of an application (3.0, and 3.1 for clients that accept it), made from its routes' schemas, and an interactive page on
 * it, all served by the application itself. Register it before the routes. Routes with `schema.hide` are left out.
 * A reader who logged in through the portal is known by cookie, so that the page's requests need no token typed in.
 */
export async function addOpenApi(
  app: FastifyInstance,
  {
    title,
    version,
    description,
    tags = [],
    page = "/docs",
    document = "/openapi.json",
    operations = {},
  }: OpenApiOptions,
): Promise<void> {
  await app.register(swagger, {
    transform: ({ schema, url, route }) => ({
      schema: nameRest(operations[`${String(route.method)} ${url}`] ?? schema),
      url: url.replace(/\*$/, ":path"),
    }),
    openapi: {
      openapi: "3.1.0",
      info: { title, version, description },
      tags: [...tags],
      // Relative: the same document is right on every host that serves it.
      servers: [{ url: "/" }],
      components: {
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer", description: "An access token of the identity service." },
          session: { type: "apiKey", in: "cookie", name: "auth_user_id", description: "Set by the portal's login." },
        },
      },
      security: [{ bearer: [] }, { session: [] }],
    },
  });
  // Schemas of answers describe them; nothing is left out of what is sent.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.get(document, { schema: { hide: true } }, (request, reply) => sendOpenApi(request, reply, app.swagger()));
  await app.register(swaggerUi, {
    routePrefix: page,
    uiConfig: { deepLinking: true, displayRequestDuration: true, tryItOutEnabled: true, persistAuthorization: false },
    // The page's own files only; its style sheet sets styles on elements.
    staticCSP: {
      "default-src": "'self'",
      "img-src": "'self' data:",
      "style-src": "'self' 'unsafe-inline'",
      "base-uri": "'none'",
      "frame-ancestors": "'none'",
      "form-action": "'self'",
    },
    theme: { title },
  });
}

/** An answer in JSON, as a route's schema describes it. */
export const jsonResponse = <Schema extends object>(
  description: string,
  schema: Schema,
  type = "application/json",
) => ({
  description,
  content: { [type]: { schema } },
});

/** The router calls the rest of a path `*`, which no template of OpenAPI can. */
function nameRest<T>(schema: T): T {
  const params = (schema as { params?: { properties?: Readonly<Record<string, object>> } } | undefined)?.params;
  const { "*": rest, ...others } = params?.properties ?? {};
  return rest === undefined ? schema : { ...schema, params: { ...params, properties: { ...others, path: rest } } };
}
