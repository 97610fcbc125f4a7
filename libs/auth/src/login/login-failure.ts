/** How a login came to nothing. `refused`: the answer was an error, or not one to be trusted. */
export type LoginFailureKind = "expired" | "cancelled" | "refused";

/** A login that was not completed; the message says why in words that follow "The login was not completed:". */
export class LoginFailure extends Error {
  override readonly name = "LoginFailure";
  readonly kind: LoginFailureKind;

  constructor(kind: LoginFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
