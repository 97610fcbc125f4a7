import { isHostileText } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type pg from "pg";

import type { IdentityContext, LoginFace } from "../../context.ts";
import {
  type Term,
  acceptTerm,
  deleteTerm,
  findTerm,
  listAcceptances,
  listTerms,
  putTerm,
  withdrawTerm,
} from "../../store/terms.ts";
import { changeTerms } from "../change-terms.ts";
import { findPdpCaller } from "./caller.ts";
import { PdpError } from "./errors.ts";

const TAG = { tags: ["terms"] };
const ANY_JSON = { type: "object", additionalProperties: true } as const;
const MAX_DOCUMENT_CHARACTERS = 100_000;

/** Terms and conditions, and who has accepted them. */
export function addPdpTermRoutes(app: FastifyInstance, context: IdentityContext, face: LoginFace): void {
  const { pool } = context;
  const open = (request: FastifyRequest) => findPdpCaller(context, face, request);
  const openOperator = async (request: FastifyRequest) => {
    const caller = await open(request);
    if (!caller.isOperator) {
      throw new PdpError(401, "not an operator", "Only operators change terms");
    }
    return caller;
  };
  const idOf = ({ params }: FastifyRequest) => (params as { term: string }).term;
  const show = ({ id, document }: Term) => ({ ...document, _id: id, term_id: id });
  app.get("/pdp/terms/", { schema: { ...TAG, summary: "List terms" } }, async (request) => {
    const { handle } = await open(request);
    return { terms: (await listTerms(pool, handle.realm.id)).map(show) };
  });
  app.post("/pdp/terms/", { schema: { ...TAG, summary: "Make terms", body: ANY_JSON } }, async (request) => {
    const { handle } = await openOperator(request);
    const term = readTerm(request.body);
    if (!(await putTerm(pool, handle.realm.id, term, false))) {
      throw new PdpError(409, "term exists", `There are terms with the ID ${term.id} already`);
    }
    return show(term);
  });
  app.get("/pdp/terms/:term", { schema: { ...TAG, summary: "Show terms" } }, async (request) => {
    const { handle } = await open(request);
    return show(await findTermOr404(pool, handle.realm.id, idOf(request)));
  });
  app.put("/pdp/terms/:term", { schema: { ...TAG, summary: "Replace terms", body: ANY_JSON } }, async (request) => {
    const { handle } = await openOperator(request);
    const term = readTerm({ ...Object(request.body), term_id: idOf(request) });
    await putTerm(pool, handle.realm.id, term, true);
    return show(term);
  });
  app.delete("/pdp/terms/:term", { schema: { ...TAG, summary: "Remove terms" } }, async (request, reply) => {
    const { handle } = await openOperator(request);
    await findTermOr404(pool, handle.realm.id, idOf(request));
    await changeTerms(context, handle.realm.name, (db) => deleteTerm(db, handle.realm.id, idOf(request)));
    return reply.code(204).send();
  });

  app.get(
    "/pdp/acceptance_validation/",
    { schema: { ...TAG, summary: "What the caller has accepted" } },
    async (request) => {
      const { handle, userId } = await open(request);
      const [terms, accepted] = await Promise.all([
        listTerms(pool, handle.realm.id),
        listAcceptances(pool, handle.realm.id, userId),
      ]);
      return {
        terms: terms.map(({ id }) => ({
          term_id: id,
          accepted: accepted.some(({ term }) => term === id),
          accepted_at: accepted.find(({ term }) => term === id)?.acceptedAt.toISOString(),
        })),
      };
    },
  );
  for (const [method, apply, summary] of [
    ["PUT", acceptTerm, "Accept terms"],
    ["DELETE", withdrawTerm, "Withdraw an acceptance"],
  ] as const) {
    app.route({
      method,
      url: "/pdp/acceptance_validation/:term",
      schema: { ...TAG, summary },
      handler: async (request, reply) => {
        const { handle, userId } = await open(request);
        await findTermOr404(pool, handle.realm.id, idOf(request));
        await changeTerms(context, handle.realm.name, (db) => apply(db, handle.realm.id, userId, idOf(request)));
        return reply.code(204).send();
      },
    });
  }
}

async function findTermOr404(pool: pg.Pool, realmId: string, id: string): Promise<Term> {
  const term = await findTerm(pool, realmId, id);
  if (term === undefined) {
    throw new PdpError(404, "no such term", "There are no terms with this ID");
  }
  return term;
}

function readTerm(body: unknown): Term {
  const { term_id: id, _id: _, ...document } = Object(body) as Readonly<Record<string, unknown>>;
  if (typeof id !== "string" || !/^[\w.:-]{1,128}$/.test(id)) {
    throw new PdpError(400, "bad request", "term_id must be 1 to 128 letters, digits and . _ : -");
  }
  const text = JSON.stringify(document);
  if (text.length > MAX_DOCUMENT_CHARACTERS || isHostileText(text)) {
    throw new PdpError(400, "bad request", `terms are longer than ${MAX_DOCUMENT_CHARACTERS} characters, or no text`);
  }
  return { id, document };
}
