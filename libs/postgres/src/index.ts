export { type Database, type DatabaseOptions, openDatabase } from "./database.ts";
export { migrate } from "./migrate.ts";
export { type Listener, openListener } from "./listener.ts";
