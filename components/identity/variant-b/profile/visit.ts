import type { FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext, UserProfile } from "../../context.ts";
import type { Notice } from "../../pages/account-visit.ts";
import type { BrowserSession } from "../../pages/browser-session.ts";
import { makeFormToken } from "../../pages/form-token.ts";
import type { RealmHandle } from "../../realms/realm-cache.ts";

/** Everything of the user profile is below this path of the login host. */
export const PROFILE = "/web_ui";

/** A request to the user profile by somebody who is logged in. */
export interface ProfileContext {
  readonly context: IdentityContext;
  readonly profile: UserProfile;
  readonly handle: RealmHandle;
  readonly session: BrowserSession;
  readonly request: FastifyRequest<{ Params: { realm: string } }>;
  readonly reply: FastifyReply;
  /** Fields of the form that was sent. */
  readonly form: Readonly<Record<string, string>>;
}

/** A section of the profile. */
export interface Section {
  /** Below `/web_ui`. */
  readonly path: string;
  readonly title: string;
  /** What is on its page now; `shown` is the id of an entry whose secrets are shown. */
  readonly show: (ctx: ProfileContext, notice: Notice, shown?: string) => Promise<string>;
  /** What its forms do. */
  readonly modify: (ctx: ProfileContext) => Promise<Notice & { readonly shown?: string }>;
}

const PURPOSE = "user profile";

export const profileToken = ({ handle, session }: Pick<ProfileContext, "handle" | "session">): string =>
  makeFormToken(handle.realm, PURPOSE, session.uid);

export { PURPOSE as PROFILE_PURPOSE };
