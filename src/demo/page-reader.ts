import { readFileSync } from 'node:fs';
import { commandLine } from './command-line.js';
import type { StoryRun } from './story.js';

export interface PageAnswer {
  readonly status: number;
  readonly text: string;
  readonly location: string;
}

/** A person in front of pages, without a screen: reads them, and sends their forms. */
export interface PageReader {
  get(path: string): Promise<PageAnswer>;
  /** The form's token, what `form` says, and a file where the form takes one. */
  post(path: string, form: Readonly<Record<string, string>>, file?: File): Promise<PageAnswer>;
}

/** Signs that person in by a fresh one-time link, and leaves another for whoever comes after the story. */
export async function signInAt(run: StoryRun, user: string): Promise<PageReader> {
  const login = run.logins?.find((each) => each.user === user);
  if (!login) throw new Error(`the run has no login for ${user}`);
  await commandLine('users', 'login-link', user, '--yes');
  const reader = await openLink(readFileSync(login.linkFile, 'utf8').trim(), user);
  await commandLine('users', 'login-link', user, '--yes');
  return reader;
}

/** Opens a one-time link and presses its button; answers the pages of that person. Throws where it opens nothing. */
export async function openLink(link: string, user: string): Promise<PageReader> {
  const { origin, pathname, search, searchParams } = new URL(link);
  const reader = createReader(origin);
  await reader.get(pathname + search);
  const opened = await reader.post(pathname, { link: searchParams.get('link') ?? '' });
  if (opened.status !== 303) throw new Error(`${user} could not sign in: ${opened.status}`);
  return reader;
}

/** The value of a form's field in that page; '' where there is none. */
export function fieldOf({ text }: PageAnswer, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
}

/** Pages of that origin, with the cookies and the token that they gave. */
function createReader(origin: string): PageReader {
  const cookies = new Map<string, string>();
  let csrf = '';
  const send = async (path: string, init: RequestInit): Promise<PageAnswer> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(origin + path, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';')[0] ?? '').split('=');
      cookies.set(name, value);
    }
    const text = await answer.text();
    csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? csrf;
    return { status: answer.status, text, location: answer.headers.get('location') ?? '' };
  };
  return {
    get: (path) => send(path, {}),
    post(path, form, file) {
      const body = new FormData();
      for (const [name, value] of Object.entries({ csrf, ...form })) body.append(name, value);
      if (file) body.append('file', file);
      return send(path, { method: 'POST', body, headers: { origin } });
    },
  };
}
