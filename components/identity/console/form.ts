import { FORM_TOKEN, makeFormToken } from "../pages/form-token.ts";
import { type Html, html } from "@swath/pages";
import type { FormFields } from "./form-fields.ts";
import type { ConsoleContext } from "./console-context.ts";

/** A form that was refused: shown again as it was filled in, with what was wrong. */
export interface Submitted {
  readonly action: string;
  readonly fields: FormFields;
  readonly bad: string;
}

interface FieldOptions {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
}

interface TextOptions extends FieldOptions {
  readonly value?: string | undefined;
  readonly type?: "text" | "email" | "password" | "number" | "datetime-local";
  readonly required?: boolean;
  readonly autocomplete?: string;
}

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly group?: string;
}

/** One form of a page: its fields keep what was typed when it was refused. */
export interface Form {
  readonly text: (options: TextOptions) => Html;
  readonly lines: (options: FieldOptions & { readonly value: readonly string[] }) => Html;
  readonly check: (options: FieldOptions & { readonly value: boolean }) => Html;
  readonly select: (
    options: FieldOptions & {
      /** Left out, one must be chosen. */
      readonly value?: string;
      readonly choices: readonly Choice[];
    },
  ) => Html;
  /** Check boxes of one name. */
  readonly checks: (
    options: FieldOptions & { readonly value: readonly string[]; readonly choices: readonly Choice[] },
  ) => Html;
  readonly close: (options: {
    readonly button: string;
    readonly content?: Html | readonly Html[];
    readonly look?: "quiet" | "danger";
    /** Fields that people do not see. */
    readonly hidden?: Readonly<Record<string, string>>;
    /** Buttons in tables say to whom they belong. */
    readonly label?: string;
    /** What the change means: asked before it is made, where the page has script. */
    readonly confirm?: string;
  }) => Html;
}

/** Purpose of the console's form tokens. */
export const CONSOLE_TOKEN = "console";

/** `action` names the form among those of its page. */
export function openForm(ctx: ConsoleContext, submitted: Submitted | undefined, action: string): Form {
  const refused = submitted?.action === action ? submitted : undefined;
  const idOf = (name: string) => `${action}-${name}`;
  const hintOf = ({ name, hint }: FieldOptions) =>
    hint === undefined ? undefined : html`<p class="hint" id="${idOf(name)}-hint">${hint}</p>`;
  const describedBy = ({ name, hint }: FieldOptions) =>
    hint === undefined ? undefined : html` aria-describedby="${idOf(name)}-hint"`;
  return {
    text: (options) => {
      const { name, label, value = "", type = "text", required = false, autocomplete = "off" } = options;
      const shown = type === "password" ? "" : (refused?.fields.raw(name) ?? value);
      return html`<div class="field">
        <label for="${idOf(name)}">${label}</label>
        <input
          id="${idOf(name)}"
          name="${name}"
          type="${type}"
          value="${shown}"
          autocomplete="${autocomplete}"
          ${required && html` required`}${describedBy(options)}
        />
        ${hintOf(options)}
      </div>`;
    },
    lines: (options) => {
      const { name, label, value } = options;
      const shown = refused?.fields.raw(name) ?? value.join("\n");
      const rows = Math.min(8, Math.max(2, shown.split("\n").length));
      return html`<div class="field">
        <label for="${idOf(name)}">${label}</label>
        <textarea id="${idOf(name)}" name="${name}" rows="${rows}" spellcheck="false" ${describedBy(options)}>
${shown}</textarea>
        ${hintOf(options)}
      </div>`;
    },
    check: (options) => {
      const { name, label, value } = options;
      const checked = refused === undefined ? value : refused.fields.flag(name);
      return html`<div class="check">
        <input
          id="${idOf(name)}"
          name="${name}"
          type="checkbox"
          value="yes"
          ${checked && html` checked`}${describedBy(options)}
        />
        <label for="${idOf(name)}">${label}</label> ${hintOf(options)}
      </div>`;
    },
    select: (options) => {
      const { name, label, choices } = options;
      const value = refused?.fields.raw(name) ?? options.value ?? "";
      const mustChoose = options.value === undefined;
      return html`<div class="field">
        <label for="${idOf(name)}">${label}</label>
        <select id="${idOf(name)}" name="${name}" ${mustChoose && html` required`}${describedBy(options)}>
          ${mustChoose && html`<option value="">choose …</option>`} ${renderChoices(choices, value)}
        </select>
        ${hintOf(options)}
      </div>`;
    },
    checks: (options) => {
      const { name, label, choices } = options;
      const chosen = refused?.fields.all(name) ?? options.value;
      return html`<fieldset${describedBy(options)}><legend>${label}</legend>
        ${choices.length === 0 && html`<p class="hint">There are none yet.</p>`}
        ${choices.map(
          (choice, index) =>
            html`<div class="check">
              <input
                id="${idOf(name)}-${index}"
                name="${name}"
                type="checkbox"
                value="${choice.value}"
                ${chosen.includes(choice.value) && html` checked`}
              />
              <label for="${idOf(name)}-${index}">${choice.label}</label>
            </div>`,
        )}
        ${hintOf(options)}</fieldset>`;
    },
    close: ({ button, content, look, hidden = {}, label, confirm }) =>
      html`<form
        method="post"
        action="${ctx.request.url.split("?", 1)[0]}"
        ${confirm !== undefined && html` data-confirm="${confirm}"`}
      >
        ${
          refused !== undefined &&
          Object.entries(hidden).every(([name, value]) => refused.fields.text(name) === value) &&
          html`<p role="alert">${refused.bad}</p>`
        }
        <input
          type="hidden"
          name="${FORM_TOKEN}"
          value="${makeFormToken(ctx.home.realm, CONSOLE_TOKEN, ctx.session.uid)}"
        />
        <input type="hidden" name="action" value="${action}" />
        ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
        ${content}
        <button
          type="submit"
          ${look !== undefined && html` class="${look}"`}${label !== undefined && html` aria-label="${label}"`}
        >
          ${button}
        </button>
      </form>`,
  };
}

function renderChoices(choices: readonly Choice[], value: string): readonly Html[] {
  const option = (choice: Choice) =>
    html`<option value="${choice.value}" ${choice.value === value && html` selected`}>${choice.label}</option>`;
  const groups = [...new Set(choices.map(({ group }) => group))];
  return groups.flatMap((group) => {
    const options = choices.filter((choice) => choice.group === group).map(option);
    return group === undefined ? options : [html`<optgroup label="${group}">${options}</optgroup>`];
  });
}
