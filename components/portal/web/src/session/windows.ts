/** What the windows of one browser tell each other. */
export type TabMessage = "logged-out" | "logged-in";

const NAME = "swath-portal-session";

/** Tells the other windows of the portal in this browser. */
export function broadcastToTabs(news: TabMessage): void {
  const channel = new BroadcastChannel(NAME);
  channel.postMessage(news);
  channel.close();
}

/** Hears what other windows tell, until it is ended. */
export function onTabMessage(onNews: (news: TabMessage) => void): () => void {
  const channel = new BroadcastChannel(NAME);
  channel.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => onNews(data));
  return () => channel.close();
}
