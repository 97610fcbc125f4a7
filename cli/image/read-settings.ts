/** Milliseconds within which settings come. */
const TIMEOUT = 30_000;
/** Characters that settings have at most. */
const LONGEST = 1 << 20;

/**
 * Reads one line of JSON, names and values, from standard input and makes it the environment's: what is secret is in no list of
 * processes.
 */
export async function readSettings(): Promise<void> {
  const timer = setTimeout(() => {
    throw new Error("no settings came on standard input");
  }, TIMEOUT);
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += chunk as string;
    if (text.includes("\n") || text.length > LONGEST) {
      break;
    }
  }
  clearTimeout(timer);
  const [line = ""] = text.split("\n");
  Object.assign(process.env, JSON.parse(line) as Record<string, string>);
}
