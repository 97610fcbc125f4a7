import type { FastifyInstance, FastifyRequest } from "fastify";

import { managesAll } from "../access/reader.ts";
import type { CatalogueContext } from "../http/context.ts";
import { notFound, problem } from "../http/errors.ts";
import { requireObject } from "../http/json-body.ts";
import { readFeedEnd } from "../store/changes.ts";
import { parsePosition } from "./position.ts";

const MAX_SUBSCRIPTIONS = 1000;

interface SubscriptionRow {
  readonly id: string;
  readonly url: string;
  readonly collections: readonly string[] | null;
  readonly failures: number;
  readonly last_error: string | null;
  readonly after: string;
  readonly made_at: Date;
}

const COLUMNS =
  "id, url, collections, failures, last_error, after_tx::text || '-' || after_n || '-' || after_i as after, made_at";

/** `/subscriptions`: who is told of changes by POST. Operators alone make them: the catalogue calls what they name. */
export function addSubscriptionRoutes(
  scope: FastifyInstance,
  context: CatalogueContext,
  onSubscribed: () => void,
): void {
  const { pool } = context;
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    if (!managesAll(await context.readerOf(request))) {
      throw problem(403, "Forbidden", "Only operators subscribe others to changes; anybody may follow /changes.");
    }
  };
  scope.post("/subscriptions", { onRequest }, async (request, reply) => {
    const { url, secret = null, collections = null, after } = requireObject(request.body).value;
    if (typeof url !== "string" || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
      throw problem(400, "InvalidDocument", "/url must be an address, http: or https:.");
    }
    if (secret !== null && (typeof secret !== "string" || secret.length < 16)) {
      throw problem(400, "InvalidDocument", "/secret must be a text of at least 16 characters.");
    }
    if (collections !== null && !(Array.isArray(collections) && collections.every((id) => typeof id === "string"))) {
      throw problem(400, "InvalidDocument", "/collections must be a list of ids.");
    }
    const position =
      after === undefined ? await readFeedEnd(pool) : parsePosition(typeof after === "string" ? after : "");
    const { rows } = await pool.query<SubscriptionRow>(
      `insert into subscription (url, secret, collections, after_tx, after_n, after_i)
       select $1, $2, $3, $4::xid8, $5, $6 where (select count(*) from subscription) < ${MAX_SUBSCRIPTIONS} returning ${COLUMNS}`,
      [url, secret, collections, position.tx, position.n, position.i],
    );
    if (rows[0] === undefined) {
      throw problem(409, "Conflict", `There are ${MAX_SUBSCRIPTIONS} subscriptions already; delete some.`);
    }
    onSubscribed();
    return reply.code(201).header("location", `/subscriptions/${rows[0].id}`).send(rows[0]);
  });
  scope.get("/subscriptions", { onRequest }, async () => {
    const { rows } = await pool.query<SubscriptionRow>(`select ${COLUMNS} from subscription order by made_at, id`);
    return { subscriptions: rows };
  });
  scope.get<{ Params: { id: string } }>("/subscriptions/:id", { onRequest }, async (request) => {
    const { rows } = await pool.query<SubscriptionRow>(`select ${COLUMNS} from subscription where id::text = $1`, [
      request.params.id,
    ]);
    if (rows[0] === undefined) {
      throw notFound("The subscription");
    }
    return rows[0];
  });
  scope.delete<{ Params: { id: string } }>("/subscriptions/:id", { onRequest }, async (request, reply) => {
    const { rowCount } = await pool.query("delete from subscription where id::text = $1", [request.params.id]);
    if (rowCount === 0) {
      throw notFound("The subscription");
    }
    return reply.code(204).send();
  });
}
