import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static } from "typebox";

import type { RegistrationRequest } from "../model/requests.ts";
import type { Acceptor } from "./accept.ts";
import type { ApiContext } from "./context.ts";
import { DeregisterBody, DocumentBody, RESPONSES, RegisterBody, XmlBody } from "./schemas.ts";

const MAX_DOCUMENT_BYTES = 8 * 2 ** 20;
const tags = ["registration"];

/** Requests that register data of the platform. */
export function addRegisterRoutes(app: FastifyInstance, { publicUrl }: ApiContext, acceptFrom: Acceptor): void {
  const accept = async (
    request: FastifyRequest,
    reply: FastifyReply,
    requested: RegistrationRequest,
    status = 202,
  ): Promise<FastifyReply> => {
    const { id, message } = await acceptFrom(request, requested);
    return reply.code(status).header("location", `${publicUrl}/tasks/${id}`).send({ message });
  };

  app.post<{ Body: Static<typeof RegisterBody> }>(
    "/register",
    {
      schema: {
        tags,
        summary: "Register STAC, a scene, a service, a catalogue, a record, an application package",
        body: RegisterBody,
        response: RESPONSES.register,
      },
    },
    (request, reply) => accept(request, reply, { form: "register", ...request.body }),
  );
  app.post<{ Body: Static<typeof DeregisterBody> }>(
    "/deregister",
    {
      schema: {
        tags,
        summary: "Take something out of the catalogue",
        body: DeregisterBody,
        response: RESPONSES.deregister,
      },
    },
    (request, reply) => accept(request, reply, { form: "deregister", ...request.body }, 200),
  );
  void app.register(async (scope) => {
    scope.addContentTypeParser(
      ["application/xml", "text/xml"],
      { parseAs: "string", bodyLimit: MAX_DOCUMENT_BYTES },
      (_request, body, done) => done(null, body),
    );
    scope.post<{ Body: string }>(
      "/register-xml",
      {
        bodyLimit: MAX_DOCUMENT_BYTES,
        schema: {
          tags,
          summary: "Register a metadata record in XML (ISO 19139, Dublin Core), as it is",
          consumes: ["application/xml"],
          body: XmlBody,
          response: RESPONSES.document,
        },
      },
      (request, reply) => accept(request, reply, { form: "xml", xml: request.body }),
    );
  });
  for (const form of ["collection", "json"] as const) {
    app.post<{ Body: Readonly<Record<string, unknown>> }>(
      `/register-${form}`,
      {
        bodyLimit: MAX_DOCUMENT_BYTES,
        schema: {
          tags,
          summary: form === "collection" ? "Register a STAC Collection" : "Register a STAC Item, Collection or record",
          body: DocumentBody,
          response: RESPONSES.document,
        },
      },
      (request, reply) => accept(request, reply, { form, document: request.body }),
    );
  }
}
