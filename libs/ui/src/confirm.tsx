import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { type ReactNode, createContext, use, useCallback, useMemo, useState } from "react";

export interface ConfirmQuestion {
  readonly title: string;
  /** What will happen, and what cannot be undone. */
  readonly body: ReactNode;
  /** The verb on the button: "Delete 3 objects". */
  readonly action: string;
  readonly danger?: boolean;
  /** When set, this has to be typed before the button works. */
  readonly typed?: string;
}

type Ask = (question: ConfirmQuestion) => Promise<boolean>;
const ConfirmContext = createContext<Ask | undefined>(undefined);

/** Asks before something happens; the promise is false when it was put off. */
export function useConfirm(): Ask {
  const send = use(ConfirmContext);
  if (send === undefined) {
    throw new Error("useConfirm is used outside of startApp");
  }
  return send;
}

export function ConfirmProvider({ children }: { readonly children: ReactNode }) {
  const [open, setOpen] = useState<{ question: ConfirmQuestion; response: (yes: boolean) => void }>();
  const [isShown, setShown] = useState(false);
  const [typed, setTyped] = useState("");
  const send = useCallback<Ask>(
    (question) =>
      new Promise((resolve) => {
        setTyped("");
        setOpen({ question, response: resolve });
        setShown(true);
      }),
    [],
  );
  const close = (yes: boolean) => {
    open?.response(yes);
    setShown(false);
  };
  const context = useMemo(() => send, [send]);
  const question = open?.question;
  const isReady = question?.typed === undefined || question.typed === typed;
  return (
    <ConfirmContext value={context}>
      {children}
      <Modal
        opened={isShown}
        onClose={() => close(false)}
        title={question?.title}
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (isReady) {
              close(true);
            }
          }}
        >
          <Stack>
            <Text component="div" size="sm">
              {question?.body}
            </Text>
            {question?.typed !== undefined && (
              <TextInput
                label={`Type ${question.typed} to go on`}
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
                autoComplete="off"
                spellCheck={false}
                data-autofocus
              />
            )}
            <Group justify="flex-end">
              <Button
                variant="default"
                onClick={() => close(false)}
                data-autofocus={question?.typed === undefined || undefined}
              >
                Cancel
              </Button>
              <Button type="submit" color={question?.danger ? "red" : "teal"} disabled={!isReady}>
                {question?.action}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </ConfirmContext>
  );
}
