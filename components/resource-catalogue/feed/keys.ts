import { hash, randomBytes } from "node:crypto";

import type { FastifyInstance, FastifyRequest } from "fastify";
import type pg from "pg";

import { OPERATOR, type Reader, managesAll } from "../access/reader.ts";
import type { CatalogueContext } from "../http/context.ts";
import { badParameter, invalidDocument, notFound, problem } from "../http/errors.ts";
import { requireObject } from "../http/json-body.ts";

const MAX_KEYS = 1000;
const MAX_TITLE_LENGTH = 200;
const FORM = /^scfk_[\w-]{43}$/;

interface KeyRow {
  readonly id: string;
  readonly title: string;
  readonly workspace: string | null;
  readonly collections: readonly string[] | null;
  readonly made_at: Date;
}

const COLUMNS = "id, title, workspace, collections, made_at";

/** Who follows with a key, and which collections alone. */
export interface Follower {
  /** Counted as this user. */
  readonly name: string;
  readonly reader: Reader;
  readonly collections: readonly string[] | undefined;
}

/**
 * `/feed-keys`: keys for programs that follow `/changes` and have no login. Operators make keys of all collections, owners of a workspace keys
 * of its own.
 */
export function addFeedKeyRoutes(scope: FastifyInstance, { pool, readerOf }: CatalogueContext): void {
  scope.post("/feed-keys", async (request, reply) => {
    const reader = await readerOf(request);
    const { title = "", workspace = null, collections = null } = requireObject(request.body).value;
    const requested = checkKey({ title, workspace: reader.only ?? workspace, collections });
    requireOwner(reader, request, requested.workspace);
    const key = `scfk_${randomBytes(32).toString("base64url")}`;
    const { rows } = await pool.query<KeyRow>(
      `insert into feed_key (hash, title, workspace, collections)
       select $1, $2, $3, $4 where (select count(*) from feed_key) < ${MAX_KEYS} returning ${COLUMNS}`,
      [digest(key), requested.title, requested.workspace, requested.collections],
    );
    if (rows[0] === undefined) {
      throw problem(409, "Conflict", `There are ${MAX_KEYS} keys already; delete some.`);
    }
    return reply
      .code(201)
      .header("location", `/feed-keys/${rows[0].id}`)
      .header("cache-control", "no-store")
      .send({ ...rows[0], key });
  });
  scope.get("/feed-keys", async (request) => {
    const reader = await readerOf(request);
    const { rows } = await pool.query<KeyRow>(`select ${COLUMNS} from feed_key order by made_at, id`);
    return { keys: rows.filter(({ workspace }) => owns(reader, workspace)) };
  });
  scope.delete<{ Params: { id: string } }>("/feed-keys/:id", async (request, reply) => {
    const reader = await readerOf(request);
    const { rows } = await pool.query<KeyRow>(`select ${COLUMNS} from feed_key where id::text = $1`, [
      request.params.id,
    ]);
    const [found] = rows;
    if (found === undefined || !owns(reader, found.workspace)) {
      throw notFound("The key");
    }
    await pool.query("delete from feed_key where id = $1", [found.id]);
    return reply.code(204).send();
  });
}

/** Who follows by the key that a request brings; `undefined` without one. @throws {Problem} 401 for a key that is none */
export async function readFollower(
  { pool, isServiceFeedKey }: Pick<CatalogueContext, "pool" | "isServiceFeedKey">,
  request: FastifyRequest,
): Promise<Follower | undefined> {
  const key = request.headers["x-feed-key"];
  if (key === undefined) {
    return undefined;
  }
  if (typeof key === "string" && isServiceFeedKey(key)) {
    return { name: "feed key of the deployment", reader: OPERATOR, collections: undefined };
  }
  const follower = typeof key === "string" && FORM.test(key) ? await findFollower(pool, key) : undefined;
  if (follower === undefined) {
    throw problem(401, "Unauthorized", "X-Feed-Key is not a key of this catalogue, or has been deleted.");
  }
  return follower;
}

async function findFollower(pool: pg.Pool, key: string): Promise<Follower | undefined> {
  const { rows } = await pool.query<KeyRow>(`select ${COLUMNS} from feed_key where hash = $1`, [digest(key)]);
  const [found] = rows;
  if (found === undefined) {
    return undefined;
  }
  const { id, workspace, collections } = found;
  const reader: Reader =
    workspace === null
      ? OPERATOR
      : { isOperator: false, workspaces: new Map([[workspace, "reader"]]), only: workspace };
  return { name: `feed key ${id}`, reader, collections: collections ?? undefined };
}

const digest = (key: string): Buffer => hash("sha256", key, "buffer");

const owns = (reader: Reader, workspace: string | null): boolean =>
  (reader.only === undefined || reader.only === workspace) &&
  (managesAll(reader) || (workspace !== null && reader.workspaces.get(workspace) === "owner"));

function requireOwner(reader: Reader, request: FastifyRequest, workspace: string | null): void {
  if (!owns(reader, workspace)) {
    const isKnown = request.headers.authorization !== undefined;
    throw problem(
      isKnown ? 403 : 401,
      isKnown ? "Forbidden" : "Unauthorized",
      "Operators make keys of all collections, owners of a workspace keys of its own: name it with workspace.",
    );
  }
}

function checkKey({
  title,
  workspace,
  collections,
}: Readonly<Record<"title" | "workspace" | "collections", unknown>>): {
  readonly title: string;
  readonly workspace: string | null;
  readonly collections: readonly string[] | null;
} {
  const what = "The key";
  if (typeof title !== "string" || title.length > MAX_TITLE_LENGTH) {
    throw invalidDocument(what, [{ path: "/title", rule: `must be a text of at most ${MAX_TITLE_LENGTH} characters` }]);
  }
  if (workspace !== null && typeof workspace !== "string") {
    throw invalidDocument(what, [{ path: "/workspace", rule: "must be the name of a workspace" }]);
  }
  if (collections !== null && !isListOfTexts(collections)) {
    throw invalidDocument(what, [{ path: "/collections", rule: "must be a list of ids" }]);
  }
  return { title, workspace, collections };
}

const isListOfTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= 1000 && value.every((entry) => typeof entry === "string");

/** Those of the collections asked for that a key is good for. @throws {Problem} 400 where there is none */
export function narrowCollections(
  requested: readonly string[] | undefined,
  allowed: readonly string[] | undefined,
): readonly string[] | undefined {
  if (requested === undefined || allowed === undefined) {
    return requested ?? allowed;
  }
  const both = requested.filter((id) => allowed.includes(id));
  if (both.length === 0) {
    throw badParameter("collections", `must be some of ${allowed.join(", ")}, which the key is for`);
  }
  return both;
}
