/** An event of the stream of changes. */
export interface StreamedEvent {
  readonly id: string;
  readonly operation: string;
  readonly record: string | undefined;
}

interface FollowOptions {
  readonly url: string;
  readonly collection: string;
  readonly signal: AbortSignal;
  readonly onEvent: (event: StreamedEvent) => void;
}

/**
 * Follows the changes of a collection as an EventSource does: connects again whenever the stream breaks off, with the id of the last whole event.
 * Ends when `signal` aborts.
 */
export async function followStream({ url, collection, signal, onEvent }: FollowOptions): Promise<void> {
  let last: string | undefined = "0-0-0";
  while (!signal.aborted) {
    try {
      const response = await fetch(`${url}/changes?collections=${collection}`, {
        headers: { accept: "text/event-stream", "last-event-id": last },
        signal,
      });
      if (!response.ok) {
        throw new Error(`/changes responded ${response.status}`);
      }
      const decoder = new TextDecoder();
      let text = "";
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk, { stream: true });
        const parts = text.split("\n\n");
        text = parts.pop() ?? "";
        for (const part of parts) {
          const data = /^data: (.*)$/m.exec(part)?.[1];
          const id = /^id: (.*)$/m.exec(part)?.[1];
          if (data !== undefined && id !== undefined) {
            const { operation, id: record } = (JSON.parse(data) as { data: { operation: string; id?: string } }).data;
            last = id;
            onEvent({ id, operation, record });
          }
        }
      }
    } catch {
      // The service is away; a real EventSource waits as well.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
