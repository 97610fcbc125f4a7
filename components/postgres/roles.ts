// Makes the roles by which components log in, each for its own schema. Doing it again changes nothing.
import { parseRoles, makeDatabaseRoles } from "@swath/postgres/roles";
import { createLogger, defineSettings, loadSettings } from "@swath/service";

const logger = createLogger("database-roles", process.env["LOG_LEVEL"]);
try {
  const { DATABASE_URL, DATABASE_ROLES } = loadSettings(
    defineSettings({
      DATABASE_URL: { kind: "string", secret: true, description: "The server, as a role that may make roles." },
      DATABASE_ROLES: {
        kind: "string",
        description: "JSON, a list of { user, schema, passwordEnv }: the variable that holds the role's password.",
      },
    }),
    process.env,
  );
  const roles = parseRoles(DATABASE_ROLES, process.env);
  await makeDatabaseRoles({
    url: DATABASE_URL,
    roles,
    onUnavailable: (reason) => {
      if (reason !== undefined) {
        logger.warn(reason);
      }
    },
  });
  logger.info({ roles: roles.map(({ user }) => user) }, "every component has its role");
} catch (error) {
  logger.fatal({ err: error }, "the roles of the database could not be made");
  process.exitCode = 1;
}
