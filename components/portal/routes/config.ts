import type { Settings } from "@swath/service";
import { parseBaseMaps } from "@swath/service/base-maps";
import type { FastifyInstance } from "fastify";

import type { settings as definitions } from "../config.ts";
import type { Registry } from "../services/registry.ts";

interface Facts {
  readonly hasIdentity: boolean;
  readonly hasFiles: boolean;
  readonly registry: Registry;
}

/** What the page has to know before anybody logs in: the keys of the portal's ConfigMap, and which parts there are. */
export function addConfigRoute(app: FastifyInstance, settings: Settings<typeof definitions>, facts: Facts): void {
  const config = {
    platform: settings.PLATFORM_NAME,
    identity_url: settings.IDENTITY_URL,
    realm: settings.REALM,
    client_id: settings.CLIENT_ID,
    identity_api_url: settings.IDENTITY_API_URL,
    ades_url: settings.ADES_URL,
    resource_catalogue_url: settings.RESOURCE_CATALOGUE_URL,
    data_access_url: settings.DATA_ACCESS_URL,
    workspace_url: settings.WORKSPACE_URL,
    workspace_docs_url: settings.WORKSPACE_DOCS_URL,
    images_registry_url: settings.IMAGES_REGISTRY_URL,
    dummy_service_url: settings.DUMMY_SERVICE_URL,
    base_maps: parseBaseMaps(settings.BASE_MAPS),
    access_token_name: settings.ACCESS_TOKEN_NAME,
    access_token_domain: settings.ACCESS_TOKEN_DOMAIN,
    refresh_token_name: settings.REFRESH_TOKEN_NAME,
    refresh_token_domain: settings.REFRESH_TOKEN_DOMAIN,
    services: facts.registry.all.map(({ id }) => id),
    login: facts.hasIdentity,
    files: facts.hasFiles,
  };
  app.get("/config.json", async (_request, reply) => {
    void reply.header("cache-control", "no-cache");
    return config;
  });
}
