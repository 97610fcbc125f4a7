import { Type } from "typebox";

/** Names of people and ids of them: what fits into a log line and a policy. */
const UserName = Type.String({ maxLength: 255, pattern: "^[^\\u0000-\\u001f\\u007f]*$" });

export const CreateBody = Type.Object({
  preferred_name: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: "Typically the user's name; the workspace is called ws-<slug of it>.",
    }),
  ),
  default_owner: Type.Optional(
    Type.String({ ...UserName, description: "User name or user id of the owner; the caller where left out or empty." }),
  ),
});

export const NameParams = (pattern: string) => Type.Object({ name: Type.String({ pattern, maxLength: 63 }) });

/** Closed: a field that cannot be changed, or is none, is refused by its name and not dropped. */
const CLOSED = { additionalProperties: false } as const;

export const ChangeBody = Type.Object(
  {
    storage: Type.Optional(
      Type.Union([
        Type.Object(
          {
            quota_in_mb: Type.Optional(
              Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), Type.Null()], {
                description: "null: the deployment's own. Administrators only.",
              }),
            ),
          },
          CLOSED,
        ),
        Type.Null(),
      ]),
    ),
    members: Type.Optional(
      Type.Array(
        Type.Object(
          {
            username: Type.String({ minLength: 1, maxLength: 255, pattern: "^[^\\u0000-\\u001f\\u007f]*$" }),
            role: Type.Union([Type.Literal("writer"), Type.Literal("reader")]),
          },
          CLOSED,
        ),
        { maxItems: 200, description: "Everybody but the owner; who is not named is none any more." },
      ),
    ),
  },
  CLOSED,
);

export const DeleteQuery = Type.Object({
  data: Type.Optional(
    Type.Union([Type.Literal("keep"), Type.Literal("purge")], {
      default: "keep",
      description: "keep: the bucket stays, without keys, until a purge. purge: everything goes, in every service.",
    }),
  ),
});

export const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
  after: Type.Optional(Type.String({ maxLength: 63, description: "The `next` of the page before." })),
});

const Url = Type.String({ minLength: 1, maxLength: 4096 });
export const RegisterBody = Type.Object({
  type: Type.String({ minLength: 1, maxLength: 100 }),
  url: Url,
  parent_identifier: Type.Optional(Type.Union([Type.String({ maxLength: 1000 }), Type.Null()])),
});
export const DeregisterBody = Type.Object({
  type: Type.Optional(Type.String({ maxLength: 100 })),
  identifier: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 1000 }), Type.Null()])),
  url: Type.Optional(Type.Union([Url, Type.Null()])),
});
export const DocumentBody = Type.Object({}, { additionalProperties: true });
