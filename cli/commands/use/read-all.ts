import type { CommandContext } from "../command.ts";

/** All of standard input, as text. */
export async function readAll(stdin: CommandContext["stdin"]): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin ?? []) {
    chunks.push(Buffer.from(chunk as Uint8Array));
  }
  return Buffer.concat(chunks).toString();
}
