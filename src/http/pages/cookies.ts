import type { Audience } from './call.js';

/** Name of the cookie that holds a session's token: bound to this host, never sent without encryption. */
export function sessionCookie(audience: Audience): string {
  return `__Host-sverka_${audience}`;
}

/** Name of the cookie that binds a sign-in under way to this browser. */
export function signInCookie(audience: Audience): string {
  return `${sessionCookie(audience)}_sign_in`;
}

/** `Set-Cookie` of a value, until the browser is closed or for `seconds`; 0 takes it away. */
export function setCookie(name: string, value: string, seconds?: number): string {
  const age = seconds === undefined ? '' : `; Max-Age=${seconds}`;
  return `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax${age}`;
}

/** The cookies of a call; of two with one name, which a stranger on the network could have planted, none counts. */
export function readCookies(header: string | undefined): (name: string) => string | undefined {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim());
  return (name) => {
    const found = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
    return found.length === 1 ? found[0] : undefined;
  };
}
