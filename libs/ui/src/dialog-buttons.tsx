import { Button, Group } from "@mantine/core";

interface DialogButtonsProps {
  /** The verb: "Create". */
  readonly label: string;
  readonly onCancel: () => void;
  readonly isBusy: boolean;
  readonly isReady: boolean;
}

/** The end of a form in a dialog. */
export function DialogButtons({ label, onCancel, isBusy, isReady }: DialogButtonsProps) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        Cancel
      </Button>
      <Button type="submit" loading={isBusy} disabled={!isReady}>
        {label}
      </Button>
    </Group>
  );
}
