import { createProcessingService } from "../../components/ades/service.ts";
import { createIdentityApi } from "../../components/identity-api/service.ts";
import { createCatalogueService } from "../../components/resource-catalogue/service.ts";
import { createWorkspaceApi } from "../../components/workspace-api/service.ts";
import { CallerLimits } from "../../libs/service/src/caller-limits.ts";
import { createLogger } from "../../libs/service/src/index.ts";

/** What the services are built from when nobody asks them anything: routes are read, no handler ever runs. */
const logger = createLogger("reference", "fatal");
const settings = { PLATFORM_DOMAIN: "example.org", PUBLIC_URL: "https://ades.example.org" };
const nothing = {
  logger,
  settings,
  guard: async () => {},
  limits: new CallerLimits(),
  loadPool: { options: { max: 1 } },
};

/** The services that describe themselves, by the name of their document. */
const SERVICES = {
  "processing-service": () => createProcessingService(nothing as never),
  "workspace-api": () => createWorkspaceApi(logger, nothing as never),
  "resource-catalogue": () => createCatalogueService(logger, nothing as never),
  "identity-api": () => createIdentityApi(logger, nothing as never, "master"),
} as const satisfies Record<string, () => ReturnType<typeof createProcessingService>>;

export type ServiceName = keyof typeof SERVICES;
export const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[];

interface OpenApiOperation {
  readonly summary?: string;
  readonly responses?: Readonly<Record<string, { readonly description?: string }>>;
}

export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly description?: string };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
}

/** The OpenAPI 3.1 document that a service serves at `/openapi.json` to clients that accept it. */
export async function readDocument(name: ServiceName): Promise<OpenApiDocument> {
  const app = await SERVICES[name]();
  try {
    await app.ready();
    return app.swagger() as OpenApiDocument;
  } finally {
    await app.close();
  }
}

/** docs/reference/openapi/NAME.json */
export async function renderDocument(name: ServiceName): Promise<string> {
  return `${JSON.stringify(await readDocument(name), null, 2)}\n`;
}
