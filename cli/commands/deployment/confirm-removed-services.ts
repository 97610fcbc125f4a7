import type { Plan } from "../../platform/plan.ts";
import type { Target } from "../../targets/target.ts";
import type { CommandContext } from "../command.ts";
import { confirmRemoval } from "../confirm.ts";

/** An apply of fewer components removes the services of the others, whose volumes stay. */
export async function confirmRemovedServices(
  target: Target,
  plan: Plan,
  options: { readonly context: Pick<CommandContext, "stdin" | "stderr">; readonly yes: boolean },
): Promise<void> {
  const deployed = await target.readPlan();
  const stays = new Set(plan.components.map(({ name }) => name));
  const removed = (deployed?.components ?? [])
    .filter(({ name }) => !stays.has(name))
    .map(({ title }) => `${title}: deployed now, and not part of what is applied; its data is kept`);
  await confirmRemoval(options.context, { yes: options.yes, removed });
}
