export { type BaseMapOption, BaseMapsContext } from "./base-maps.ts";
export { Brand } from "./brand.tsx";
export { ColorSchemeSwitch } from "./color-scheme-switch.tsx";
export { type ConfirmQuestion, useConfirm } from "./confirm.tsx";
export { SIGN_IN, useConsoleSession, useSignOut } from "./console-session.ts";
export { ConsoleSignIn } from "./console-sign-in.tsx";
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
export { RouteError } from "./route-error.tsx";
export { Page } from "./page.tsx";
export { Part, loadWithRetry, lazyPart, loadPage } from "./part.tsx";
export { type Problem, RequestError, toRequestError } from "./problem.ts";
export { request, requestJson } from "./request.ts";
export { SecretField } from "./secret-field.tsx";
export { Shell, type ShellLink } from "./shell.tsx";
export { SignedIn } from "./signed-in.tsx";
export { AssetTable } from "./stac/asset-table.tsx";
export { PropertyTable } from "./stac/property-table.tsx";
export { startApp } from "./start-app.tsx";
export { Awaited, Empty, ErrorNote, Loading } from "./states.tsx";
export { RelativeTime } from "./time.tsx";
export { scheduleDeletion } from "./undo.tsx";
export { UsageBar } from "./usage-bar.tsx";
export type { ShellUser } from "./user-menu.tsx";
export { useChange } from "./use-change.ts";
