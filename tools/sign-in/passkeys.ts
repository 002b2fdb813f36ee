import { randomBytes } from 'node:crypto'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { Context } from '../../src/ports/context.ts'
import type { PasskeyRecord } from '../../src/ports/records/passkey.ts'
import type { PasskeyCeremony } from '../../src/ports/page-parts.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { mintLink } from '../../src/protocol/sign-in/link.ts'
import { passkeyIdOf } from '../../src/protocol/sign-in/passkey.ts'
import { after } from '../../src/base/brand.ts'
import { attribute, hiddenFields } from '../flow.ts'
import { openAuthenticator, type Said, type SoftwareAuthenticator } from './authenticator.ts'

type Page = Pick<LightMyRequestResponse, 'body'>

/** The form of a page that asks the browser for a passkey, and what it asks. @throws Error without one */
export function passkeyFormOf({ body }: Page): {
  readonly action: string
  readonly hidden: Record<string, string>
  readonly asked: PasskeyCeremony & Pick<Said, 'challenge' | 'origin' | 'rpId'>
} {
  const form = (body.match(/<form[^]*?<\/form>/g) ?? []).find((one) => one.includes('data-passkey'))
  if (form === undefined) throw new Error(`No form asks for a passkey: ${body}`)
  const asked = JSON.parse(attribute(form, 'data-passkey')) as PasskeyCeremony
  const challenge = Buffer.from(asked.challenge).toString('base64url')
  const hidden = hiddenFields({ body: form })
  return { action: attribute(form, 'action'), hidden, asked: { ...asked, challenge, origin: ORIGIN } }
}

/** The origin that a browser names if nothing else is said. */
export const ORIGIN = 'http://localhost:3000'

/** The fields of a form that the answer of an authenticator fills in. */
export function signedFields(
  page: Page,
  {
    userId,
    authenticator,
    ...said
  }: { readonly userId: UserId; readonly authenticator: SoftwareAuthenticator } & Partial<Said>,
): Record<string, string> {
  const { hidden, asked } = passkeyFormOf(page)
  const { credentialId, clientData, ...answer } = authenticator.sign({ ...asked, ...said })
  const userHandle = Buffer.from(userId).toString('base64url')
  return { ...hidden, credential: credentialId, clientDataJSON: clientData, ...answer, userHandle }
}

/** The same for a new passkey. */
export function madeFields(
  page: Page,
  authenticator: SoftwareAuthenticator,
  said: Partial<Said> = {},
): Record<string, string> {
  const { hidden, asked } = passkeyFormOf(page)
  const { credentialId, clientData, attestationObject } = authenticator.register({ ...asked, ...said })
  return { ...hidden, credential: credentialId, clientDataJSON: clientData, attestationObject }
}

/** Gives a user a passkey, and no other sign-in method. */
export async function givePasskey(
  { context }: { readonly context: Context },
  userId: UserId,
  differing: Partial<PasskeyRecord> = {},
): Promise<{ readonly authenticator: SoftwareAuthenticator; readonly passkey: PasskeyRecord }> {
  const authenticator = openAuthenticator()
  const asked = { challenge: 'AAAA', origin: ORIGIN, rpId: 'localhost' }
  const made = await context.passkeys.verifyRegistration(authenticator.register(asked), asked)
  if (made.kind !== 'verified') throw new Error(`The passkey fails the check ${made.check}.`)
  const { kind: _, ...key } = made
  const now = context.clock()
  const { hash } = mintLink(context.secrets, userId, randomBytes)
  const link = { userId, hash, purpose: 'reset', createdAt: now, expiresAt: after(now, 1000) } as const
  expect(await context.store.createLink(link), 'created')
  const id = passkeyIdOf(key.credentialId)
  const passkey = { ...key, userId, id, agent: undefined, createdAt: now, usedAt: undefined, ...differing }
  const reason = { kind: 'link', hash, keep: [], now } as const
  expect(await context.store.addPasskey({ passkey, reason }), 'added')
  return { authenticator, passkey }
}

function expect(outcome: string, expected: string): void {
  if (outcome !== expected) throw new Error(`The store answers ${outcome}, not ${expected}.`)
}
