import type { Child } from 'hono/jsx';
import { Icon } from './icon.js';

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  /** Why what was entered is refused. */
  readonly error?: string | undefined;
  readonly value?: string;
  readonly required?: boolean;
}

/** A field of one line, its hint and its error tied to it for who does not see it. */
export function TextField(of: FieldProps & { type?: string; maxlength?: number; placeholder?: string }) {
  return (
    <Field {...of}>
      <input
        class="input"
        type={of.type ?? 'text'}
        {...common(of)}
        value={of.value ?? ''}
        maxlength={of.maxlength}
        placeholder={of.placeholder}
        autocomplete="off"
      />
    </Field>
  );
}

export function TextArea(of: FieldProps & { maxlength?: number }) {
  return (
    <Field {...of}>
      <textarea class="input" {...common(of)} maxlength={of.maxlength}>
        {of.value ?? ''}
      </textarea>
    </Field>
  );
}

export interface Option {
  readonly value: string;
  readonly label: string;
}

export function SelectField(of: FieldProps & { options: readonly Option[] }) {
  return (
    <Field {...of}>
      <select class="input" {...common(of)}>
        {of.options.map(({ value, label }) => (
          <option value={value} selected={value === of.value}>
            {label}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** Several of a few. */
export function CheckField(of: {
  legend: string;
  name: string;
  options: readonly Option[];
  chosen: readonly string[];
}) {
  return (
    <fieldset class="field">
      <legend>{of.legend}</legend>
      {of.options.map(({ value, label }) => (
        <label class="check">
          <input type="checkbox" name={of.name} value={value} checked={of.chosen.includes(value)} /> {label}
        </label>
      ))}
    </fieldset>
  );
}

function Field({ id, label, hint, error, children }: FieldProps & { children?: Child }) {
  return (
    <div class={error === undefined ? 'field' : 'field field--bad'}>
      <label for={id}>{label}</label>
      {children}
      {error === undefined ? null : (
        <p class="err" id={`${id}-e`}>
          <Icon name="failed" />
          {error}
        </p>
      )}
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-h`}>
          {hint}
        </p>
      )}
    </div>
  );
}

function common({ id, error, hint, required }: FieldProps) {
  const described = [error === undefined ? '' : `${id}-e`, hint === undefined ? '' : `${id}-h`].filter(Boolean);
  return {
    id,
    name: id,
    required: required ?? false,
    'aria-invalid': error === undefined ? undefined : 'true',
    'aria-describedby': described.length === 0 ? undefined : described.join(' '),
  };
}
