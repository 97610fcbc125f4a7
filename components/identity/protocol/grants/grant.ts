import type { IdentityContext } from "../../context.ts";
import type { RealmHandle } from "../../realms/realm-cache.ts";
import type { Client } from "../../store/clients.ts";
import type { Form } from "../form.ts";

/** A request to the token endpoint whose client is known. */
export interface GrantRequest {
  readonly context: IdentityContext;
  readonly handle: RealmHandle;
  readonly client: Client;
  readonly form: Form;
  /** Thumbprint of the key that the tokens are to be bound to (RFC 9449 §5). */
  readonly boundTo: string | undefined;
  readonly ip: string;
  readonly userAgent: string | undefined;
}
