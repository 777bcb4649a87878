import type { Child } from 'hono/jsx';
import { Form } from './form.js';

/** One button that changes something: a form of its own. */
export function ActButton(of: {
  csrf: string;
  action: string;
  label: string;
  /** What destroys is an outline. */
  danger?: boolean;
  fields?: Readonly<Record<string, string>>;
  children?: Child;
}) {
  return (
    <Form action={of.action} csrf={of.csrf} class="act">
      {Object.entries(of.fields ?? {}).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {of.children}
      <button type="submit" class={of.danger ? 'btn btn--danger' : 'btn'}>
        {of.label}
      </button>
    </Form>
  );
}
