import { defineSettings } from "@swath/service";

export const settings = defineSettings({
  DATA_DIR: { kind: "string", description: "Folder that holds the data directory; a volume." },
  LISTEN_POSTGRES: {
    kind: "string",
    description: "unix:/folder/any-name (the socket lies in that folder) or :5432.",
  },
  POSTGRES_USER: { kind: "string", default: "swath", description: "Role that owns everything." },
  POSTGRES_DATABASE: { kind: "string", default: "swath", description: "Database made at the first start." },
  POSTGRES_PASSWORD: {
    kind: "string",
    secret: true,
    description: "Password of the role; a changed one is set at start.",
  },
  POSTGRES_MAX_CONNECTIONS: {
    kind: "integer",
    default: 200,
    minimum: 10,
    maximum: 2000,
    description: "Sessions at most.",
  },
  POSTGRES_SHARED_BUFFERS: { kind: "string", default: "128MB", description: "Memory for cached pages." },
});
