/** Commands by which an operator changes a deployment; of some, the word that does. */
const ACTS: Readonly<Record<string, readonly string[]>> = {
  deploy: ["apply"],
  credentials: ["rotate"],
  restart: [],
  start: [],
  rollback: [],
  restore: [],
  backup: [],
};

/** Whether a command is for the audit trail. One that stops the deployment is not: its database is gone by then. */
export function isOperatorAct(command: string, [word = ""]: readonly string[]): boolean {
  const words = Object.hasOwn(ACTS, command) ? ACTS[command] : undefined;
  return words !== undefined && (words.length === 0 || words.includes(word));
}

/** How the trail names it: `swath deploy apply`, and the words that say on what. */
export function describeAct(
  command: string,
  args: readonly string[],
): { readonly action: string; readonly words: readonly string[] } {
  const words = args.filter((argument) => !argument.startsWith("-"));
  const named = (ACTS[command] ?? []).length > 0;
  return { action: `swath ${command}${named ? ` ${words[0]}` : ""}`, words: named ? words.slice(1) : words };
}
