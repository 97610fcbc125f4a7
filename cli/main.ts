import { isOperatorAct } from "./audit/operator-acts.ts";
import { commands, findCommand, suggestCommand } from "./commands/index.ts";
import { CommandError } from "./commands/command.ts";

const [name = "help", ...args] = process.argv.slice(2);
process.exitCode = await main();

async function main(): Promise<number> {
  // A reader that leaves early (`swath logs x | head`) is no error of ours.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? 0 : 1);
  });
  const entry = findCommand(name);
  if (entry === undefined) {
    const nearest = await suggestCommand(name);
    console.error(`swath: there is no command "${name}"${nearest ? `; did you mean "${nearest}"?` : ""}`);
    console.error(`Commands: ${commands.map((command) => command.name).join(", ")}`);
    return 2;
  }
  const command = await entry.load();
  const isHelp = (arg: string): boolean => arg === "--help" || arg === "-h";
  if (args.slice(0, command.hasWords ? 1 : undefined).some(isHelp)) {
    process.stdout.write(`${command.usage.trim()}\n`);
    return 0;
  }
  try {
    const { env, stdin, stdout, stderr } = process;
    const status = await command.run({ args, env, stdin, stdout, stderr });
    if (status === 0 && isOperatorAct(name, args)) {
      const { noteOperatorAct } = await import("./audit/note-operator-act.ts");
      const problem = await noteOperatorAct(name, args, env);
      if (problem !== undefined) {
        stderr.write(`Note: this is not in the audit trail: ${problem}\n`);
      }
    }
    return status;
  } catch (error) {
    // Its code is for failures alone.
    const { describeError } = await import("./describe-error.ts");
    console.error(describeError(error, process.env["SWATH_DEBUG"] === "true"));
    return error instanceof CommandError ? error.status : 1;
  }
}
