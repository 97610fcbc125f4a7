import { defineSettings } from "@swath/service";

export const settings = defineSettings({
  IDENTITY_INTERNAL_URL: { kind: "string", description: "The identity service inside the deployment." },
  IDENTITY_REALM: { kind: "string", default: "master", description: "Realm of clients and users." },
});
