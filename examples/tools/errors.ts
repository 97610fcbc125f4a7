/** A mistake in the input that the user of a tool can mend; its message is all that is shown. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}
