import { commandGroups } from "./index.ts";

/** docs/reference/commands.md, from what the commands say of themselves. */
export async function renderCommandsPage(): Promise<string> {
  const entries: string[] = [];
  const tables: string[] = [];
  for (const { title, commands } of commandGroups) {
    const rows = commands.map(({ name, summary }) => `| [${name}](#${name}) | ${summary} |`);
    tables.push(`| ${title.toLowerCase()} | |\n| --- | --- |\n${rows.join("\n")}\n`);
    for (const { name, summary, load } of commands) {
      const { usage } = await load();
      entries.push(`## ${name}\n\n${capitalise(summary)}.\n\n\`\`\`\n${usage.trim()}\n\`\`\`\n`);
    }
  }
  return `<!-- Generated from cli/commands by \`npm run generate\`. Do not edit. -->

# Commands

\`bin/swath COMMAND\`, in any folder. The cluster is \`swath\` where it is left out. Exit status: 0 done, 1 failed, 2 usage error; a command
that has others says so. What people read goes to standard output, what is in the way to standard error; \`-o json\` prints for programs.

Launchers below \`deploy/\` call these: \`deploy/swath/swath.sh ACTION\` is \`swath deploy ACTION\`, the wrappers (\`deploy/simple/simple\`,
\`deploy/processing/processing\`, …) set variables and call that; \`deploy/bin/create-user\`, \`create-client\`, \`create-workspace\`,
\`harvest\`, \`register-collection\` and \`load-records\` say what they take with \`--help\`.

${tables.join("\n")}
${entries.join("\n")}`;
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
