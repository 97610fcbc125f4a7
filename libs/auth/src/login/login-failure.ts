/**
 * How a login came to nothing. `refused`: the answer was an error, or not one to be trusted; `unavailable`: there was no answer, and
 * another try in a moment may get one.
 */
export type LoginFailureKind = "expired" | "cancelled" | "refused" | "unavailable";

/** A login that was not completed; the message says why in words that follow "The login was not completed:". */
export class LoginFailure extends Error {
  override readonly name = "LoginFailure";
  readonly kind: LoginFailureKind;

  constructor(kind: LoginFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
