import type { CDPSession, Page } from 'playwright-core';

/** A security key of a real browser, without the key: Chromium's virtual authenticator. */
export interface VirtualPasskey {
  /** Whether it verifies its holder (a finger, a PIN). */
  setVerified(isVerified: boolean): Promise<void>;
  /** Asks it to sign what the console asks for, as the script of the page does; answers what the form would send. */
  sign(of: { csrf: string; seen: string; userVerification?: 'discouraged' }): Promise<string>;
}

export async function plugInPasskey(page: Page): Promise<VirtualPasskey> {
  const devtools: CDPSession = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'usb', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return {
    setVerified: async (isUserVerified) => {
      await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
    sign: (of) => page.evaluate(signInPage, of),
  };
}

/** Runs in the page, where the package is the global that its bundle makes. */
async function signInPage(of: { csrf: string; seen: string; userVerification?: string }): Promise<string> {
  const body = new URLSearchParams({ csrf: of.csrf, seen: of.seen });
  const asked = await fetch('/operator/passkeys/challenge', { method: 'POST', body });
  const options = (await asked.json()) as object;
  const optionsJSON = of.userVerification ? { ...options, userVerification: of.userVerification } : options;
  const { startAuthentication } = (globalThis as unknown as Record<'SimpleWebAuthnBrowser', WebAuthn>)
    .SimpleWebAuthnBrowser;
  return JSON.stringify(await startAuthentication({ optionsJSON }));
}

interface WebAuthn {
  startAuthentication(of: { optionsJSON: object }): Promise<object>;
}
