/** Why something cannot be registered. */
export class RegistrationError extends Error {
  override readonly name = "RegistrationError";
  /** May pass by itself: worth another attempt. */
  readonly isTransient: boolean;
  /** Seconds that the other side asks to wait. */
  readonly retryAfter?: number;
  /** The source says that there is nothing at the address. */
  readonly isGone: boolean;
  /** The source answered, and refuses the request. */
  readonly isRefusal: boolean;

  constructor(
    message: string,
    options: {
      isTransient?: boolean;
      retryAfter?: number;
      isGone?: boolean;
      isRefusal?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.isTransient = options.isTransient ?? false;
    this.isGone = options.isGone ?? false;
    this.isRefusal = options.isRefusal ?? false;
    if (options.retryAfter !== undefined) {
      this.retryAfter = options.retryAfter;
    }
  }
}

/** The worker's hold on a task ended: somebody cancelled it, or another worker has it. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}
