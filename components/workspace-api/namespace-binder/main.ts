import { openAccount } from "@swath/kubernetes/account";
import { openClusterApi } from "@swath/kubernetes/api";
import { runService } from "@swath/service";

import { binderSettings } from "../config.ts";
import { type WorkspaceRole, startBinder } from "./binder.ts";

await runService({
  name: "namespace-binder",
  settings: binderSettings,
  build: async ({ settings, logger }) => {
    const api = openClusterApi(openAccount(settings.KUBERNETES_ACCOUNT, settings.KUBERNETES_API));
    const roles = JSON.parse(settings.WORKSPACE_ROLES) as readonly WorkspaceRole[];
    const binder = startBinder({ api, logger, deployment: settings.DEPLOYMENT, roles });
    return {
      servers: {},
      ready: async () => binder.checkReady(),
      close: async () => {
        await binder.stop();
        await api.close();
      },
    };
  },
});
