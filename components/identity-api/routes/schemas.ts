import { Type } from "typebox";

const closed = { additionalProperties: false };
const Texts = Type.Array(Type.String());

export const Permissions = Type.Object(
  {
    user: Type.Optional(Texts),
    role: Type.Optional(Texts),
    authenticated: Type.Optional(Type.Boolean({ default: false })),
  },
  closed,
);
const strategy = (fallback: string) =>
  Type.Union([Type.Literal("UNANIMOUS"), Type.Literal("AFFIRMATIVE"), Type.Literal("CONSENSUS")], {
    default: fallback,
  });

export const Resource = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    uris: Texts,
    attributes: Type.Optional(Type.Object({}, { additionalProperties: true })),
    scopes: Type.Optional(Type.Array(Type.String(), { default: ["view"] })),
    ownerManagedAccess: Type.Optional(Type.Boolean()),
    permissions: Type.Optional(Permissions),
    decisionStrategy: Type.Optional(strategy("UNANIMOUS")),
  },
  closed,
);
export const Resources = Type.Array(Resource, { minItems: 1 });
/** Scopes as names, or as what a GET shows of them. */
const ScopeNames = Type.Array(
  Type.Union([Type.String(), Type.Object({ name: Type.String({ minLength: 1 }) }, { additionalProperties: true })]),
);
/** A change may be what a GET showed, with something in it replaced. */
export const ResourceChange = Type.Object(
  {
    ...Type.Partial(Resource).properties,
    scopes: Type.Optional(ScopeNames),
    resource_scopes: Type.Optional(ScopeNames),
    _id: Type.Optional(Type.String()),
    displayName: Type.Optional(Type.String()),
    type: Type.Optional(Type.String()),
    icon_uri: Type.Optional(Type.String()),
    owner: Type.Optional(Type.Union([Type.String(), Type.Object({}, { additionalProperties: true })])),
  },
  closed,
);

const flag = (fallback: boolean) => Type.Optional(Type.Boolean({ default: fallback }));
export const NewClient = Type.Object(
  {
    clientId: Type.String({ minLength: 1, maxLength: 255 }),
    name: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    secret: Type.Optional(Type.String()),
    rootUrl: Type.Optional(Type.String()),
    adminUrl: Type.Optional(Type.String()),
    baseUrl: Type.Optional(Type.String()),
    redirectUris: Type.Optional(Type.Array(Type.String(), { default: ["*"] })),
    webOrigins: Type.Optional(Type.Array(Type.String(), { default: ["*"] })),
    protocol: Type.Optional(Type.String({ default: "openid-connect" })),
    defaultRoles: Type.Optional(Texts),
    bearerOnly: flag(false),
    consentRequired: flag(false),
    publicClient: flag(false),
    authorizationServicesEnabled: flag(true),
    serviceAccountsEnabled: flag(true),
    standardFlowEnabled: flag(true),
    implicitFlowEnabled: flag(false),
    directAccessGrantsEnabled: flag(false),
    oauth2DeviceAuthorizationGrantEnabled: flag(false),
    directGrantsOnly: flag(false),
    resources: Type.Optional(Type.Array(Resource, { default: [] })),
  },
  closed,
);

export const Policy = Type.Object({ name: Type.String({ minLength: 1 }) }, { additionalProperties: true });
