import { createPeer, runService } from "@swath/service";
import { readyServer } from "@swath/service/fastify";

import { settings } from "./config.ts";
import { createIdentityApi } from "./service.ts";

await runService({
  name: "identity-api",
  settings,
  build: async ({ settings: { IDENTITY_INTERNAL_URL, IDENTITY_REALM }, logger }) => {
    const peer = createPeer(IDENTITY_INTERNAL_URL);
    const app = await createIdentityApi(logger, peer, IDENTITY_REALM);
    return {
      servers: { http: await readyServer(app) },
      close: async () => {
        await app.close();
        await peer.close();
      },
    };
  },
});
