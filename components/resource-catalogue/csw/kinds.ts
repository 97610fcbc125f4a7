import type { RecordKind } from "../model/record.ts";
import { type Expression, call, property } from "../query/expression.ts";

/** What CSW and OpenSearch show. */
export const KINDS: readonly RecordKind[] = ["i", "r", "c"];
/** The collection that holds records of no other says nothing that anybody looks for. */
export const NO_MAIN_RECORDS: Expression = call(
  "or",
  call("<>", property("type"), { kind: "string", value: "collection" }),
  call("not", call("like", property("id"), { kind: "string", value: "metadata:%" })),
);
