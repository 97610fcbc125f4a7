/** What the windows of one browser tell each other. */
export type WindowNews = "logged-out" | "logged-in";

const NAME = "swath-portal-session";

/** Tells the other windows of the portal in this browser. */
export function tellWindows(news: WindowNews): void {
  const channel = new BroadcastChannel(NAME);
  channel.postMessage(news);
  channel.close();
}

/** Hears what other windows tell, until it is ended. */
export function hearWindows(onNews: (news: WindowNews) => void): () => void {
  const channel = new BroadcastChannel(NAME);
  channel.addEventListener("message", ({ data }: MessageEvent<WindowNews>) => onNews(data));
  return () => channel.close();
}
