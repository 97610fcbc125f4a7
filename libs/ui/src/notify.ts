import { notifications } from "@mantine/notifications";

const CLOSE = { "aria-label": "Close" };

/** Says at the edge of the window that something worked. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: "green", autoClose: 5000, closeButtonProps: CLOSE });
}

/** Says at the edge of the window that something failed; stays until it is closed. */
export function notifyFailed(title: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  notifications.show({ title, message, color: "red", autoClose: false, role: "alert", closeButtonProps: CLOSE });
}
