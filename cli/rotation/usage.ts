import { formatTable } from "../view/table.ts";
import { subjects } from "./subjects.ts";

const list = formatTable(
  subjects.map(({ name, meaning }) => [name, meaning]),
  { indent: "  " },
).trimEnd();

export const ROTATE_HELP = `rotate gives passwords and keys new values while the deployment runs, without a failed request. WHAT is all (when left out) or one of

${list}

Values that the deployment made are made anew. One that you gave by its variable gets the value that the variable has now: set it,
run this, and keep it set for every later apply. Begun and interrupted, the same command carries on.

  --keep-old   end while the old values are still accepted beside the new ones; the same command without it forgets them`;
