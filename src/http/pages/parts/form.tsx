import type { Child } from 'hono/jsx';

/** A form of a session: it carries the session's token, without which nothing is taken. */
export function Form(of: { action: string; csrf: string | null; class?: string; upload?: boolean; children?: Child }) {
  return (
    <form
      class={of.class ?? 'form'}
      method="post"
      action={of.action}
      enctype={of.upload ? 'multipart/form-data' : undefined}
    >
      {of.csrf === null ? null : <input type="hidden" name="csrf" value={of.csrf} />}
      {of.children}
    </form>
  );
}
