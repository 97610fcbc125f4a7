// The same without the query builder, for components whose statements are their own: it takes 15 MB.
export { type PooledDatabase, openPool } from "./open-pool.ts";
export { type Listener, openListener } from "./listener.ts";
export { inTransaction, isInterrupted } from "./transaction.ts";
