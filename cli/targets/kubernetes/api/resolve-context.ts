import { type ClusterAddress, connect } from "./connection.ts";

/** The address with the name of its context, so that what is current later does not matter. */
export async function resolveContext(address: ClusterAddress): Promise<ClusterAddress & { readonly context: string }> {
  const { context } = await connect(address);
  return { ...address, context };
}
