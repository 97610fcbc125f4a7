export { Brand } from "./brand.tsx";
export { ColorSchemeSwitch } from "./color-scheme-switch.tsx";
export { type ConfirmQuestion, useConfirm } from "./confirm.tsx";
export { deleteColumn, madeColumn, switchColumn } from "./columns.tsx";
export { CopyButton } from "./copy-button.tsx";
export { type Column, DataTable } from "./data-table.tsx";
export { DialogButtons } from "./dialog-buttons.tsx";
export { EditDialog } from "./edit-dialog.tsx";
export {
  formatBytes,
  formatCount,
  formatDuration,
  formatPlural,
  formatRelative,
  formatTime,
  parseBytes,
} from "./format.ts";
export { notifyDone, notifyFailed } from "./notify.ts";
export { Page } from "./page.tsx";
export { Part, insist, lazyPart } from "./part.tsx";
export { type Problem, RequestError, toRequestError } from "./problem.ts";
export { request, requestJson } from "./request.ts";
export { SecretField } from "./secret-field.tsx";
export { Shell, type ShellLink } from "./shell.tsx";
export { SignInFrame, toOwnPath } from "./sign-in-frame.tsx";
export { startApp } from "./start-app.tsx";
export { Awaited, Empty, ErrorNote, Loading } from "./states.tsx";
export { RelativeTime } from "./time.tsx";
export { scheduleDeletion } from "./undo.tsx";
export { UsageBar } from "./usage-bar.tsx";
export type { ShellUser } from "./user-menu.tsx";
export { useChange } from "./use-change.ts";
