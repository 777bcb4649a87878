import type { CDPSession, Page } from 'playwright-core';

/** What the console hands to the browser to have it signed. */
export interface PasskeyOptions {
  readonly challenge: string;
  readonly userVerification: string;
  readonly allowCredentials: readonly object[];
}

/** A security key of a real browser, without the key: Chromium's virtual authenticator. */
export interface VirtualPasskey {
  /** Whether it verifies its holder (a finger, a PIN). */
  setVerified(isVerified: boolean): Promise<void>;
  /** Signs as the script of the page does, which has to be loaded; answers what the form would send. */
  sign(options: PasskeyOptions): Promise<string>;
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
    sign: (options) => page.evaluate(signInPage, options),
  };
}

/** Runs in the page, where the package is the global that its bundle makes. */
async function signInPage(optionsJSON: PasskeyOptions): Promise<string> {
  const { SimpleWebAuthnBrowser } = globalThis as unknown as Record<'SimpleWebAuthnBrowser', WebAuthn>;
  return JSON.stringify(await SimpleWebAuthnBrowser.startAuthentication({ optionsJSON }));
}

interface WebAuthn {
  startAuthentication(of: { optionsJSON: object }): Promise<object>;
}
