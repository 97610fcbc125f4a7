/** A message that breaks HTTP's grammar or this ingress's limits; `status` is what a client is answered. */
export class MessageError extends Error {
  override readonly name = "MessageError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
