export { packBaseBackup } from "./base-backup.ts";
export { type DatabaseAccount, findDatabaseAccount } from "./account.ts";
export { type PostgresBinaries, installBinaries } from "./binaries.ts";
export { type DataDirectoryOptions, prepareDataDirectory } from "./data-directory.ts";
export { setUpDatabase } from "./set-up-database.ts";
export { type TestServer, startTestServer } from "./test-server.ts";
