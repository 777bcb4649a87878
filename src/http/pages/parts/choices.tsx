import type { Child } from 'hono/jsx';

/** One way to decide, with what follows from it. */
export interface Choice {
  readonly value: string;
  readonly name: string;
  readonly what: string;
  /** The same rows in every choice, so that they can be compared. */
  readonly rows: readonly { readonly name: string; readonly value: string }[];
  /** A field that belongs to this choice alone. */
  readonly field?: Child;
}

/** Outcomes side by side, before the button. */
export function Choices({ legend, choices, chosen }: { legend: string; choices: readonly Choice[]; chosen: string }) {
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {choices.map(({ value, name, what, rows, field }) => (
        <div class="choice">
          <label class="choice-name">
            <input
              type="radio"
              name="choice"
              id={`choice-${value}`}
              value={value}
              required
              checked={chosen === value}
              aria-describedby={`choice-${value}-d`}
            />
            {name}
          </label>
          <p id={`choice-${value}-d`}>{what}</p>
          <dl>
            {rows.map((row) => (
              <div>
                <dt>{row.name}</dt>
                <dd>{row.value}</dd>
              </div>
            ))}
            {field === undefined ? null : <div>{field}</div>}
          </dl>
        </div>
      ))}
    </fieldset>
  );
}
