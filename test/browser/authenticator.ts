import type { CDPSession, Page as Tab } from 'playwright-core'

/** A passkey as an authenticator has it. */
export type KeptPasskey = Awaited<ReturnType<typeof listIn>>[number]

/** The page has no request that waits for a choice in the field of the address, so that a button is pressed. */
export const NO_AUTOFILL = 'PublicKeyCredential.isConditionalMediationAvailable = async () => false'

/**
 * Plugs an authenticator with these passkeys into a tab, where Chromium simulates it. `isUserVerified`: the user proves to be its owner.
 * Returns the function that lists what it has.
 */
export async function plugIn(
  tab: Tab,
  {
    transport = 'internal',
    isUserVerified = true,
    passkeys = [],
  }: {
    /** A browser has one internal authenticator. */
    readonly transport?: 'internal' | 'usb'
    readonly isUserVerified?: boolean
    readonly passkeys?: readonly KeptPasskey[]
  },
): Promise<() => Promise<readonly KeptPasskey[]>> {
  const session = await tab.context().newCDPSession(tab)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  })
  for (const credential of passkeys) await session.send('WebAuthn.addCredential', { authenticatorId, credential })
  return () => listIn(session, authenticatorId)
}

async function listIn(session: CDPSession, authenticatorId: string) {
  return (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials
}
