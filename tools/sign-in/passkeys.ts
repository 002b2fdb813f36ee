import { randomBytes } from 'node:crypto'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { Context } from '../../src/ports/context.ts'
import type { PasskeyRecord } from '../../src/ports/records/passkey.ts'
import type { PasskeyCeremony } from '../../src/ports/pages/parts.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { mintLink } from '../../src/protocol/sign-in/link.ts'
import { passkeyIdOf } from '../../src/protocol/sign-in/passkey.ts'
import { after } from '../../src/base/brand.ts'
import { attribute, EMAIL, hiddenFields, PASSWORD } from '../flow.ts'
import { openPerson } from '../person.ts'
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
  const lifetime = { createdAt: now, expiresAt: after(now, 1000) }
  const link = {
    userId,
    origin: 'operator',
    hash,
    purpose: 'reset',
    isMailed: false,
    madeBy: undefined,
    madeWith: undefined,
    clientId: undefined,
    authorizationId: undefined,
    roleSince: (await context.store.findRole(userId))?.setAt,
    ...lifetime,
    mails: [],
  } as const
  expect(await context.store.createLink(link), 'created')
  const id = passkeyIdOf(key.credentialId)
  const passkey = { ...key, userId, id, agent: undefined, createdAt: now, usedAt: undefined, ...differing }
  const reason = { kind: 'link', hash, keep: [], isSecondStepRequired: false, now } as const
  expect(await context.store.addPasskey({ passkey, reason, mails: [] }), 'added')
  return { authenticator, passkey }
}

/**
 * The user of flow.ts signs in by password, adds a passkey, and signs in with it in another browser, over real HTTP.
 *
 * @throws Error if a page does not ask for the passkey, or does not take it
 */
export async function walkWithPasskey(issuer: string): Promise<void> {
  const { origin } = new URL(issuer)
  const authenticator = openAuthenticator()
  const first = openPerson(issuer)
  const signIn = await first.visit(`${issuer}/account/security/add-passkey`)
  const page = await first.submit(signIn, { email: EMAIL, password: PASSWORD })
  const userId = passkeyFormOf(page).asked.user?.id as UserId
  const added = await first.submit(page, madeFields(page, authenticator, { origin }))
  if (!added.body.includes('role="status"'))
    throw new Error(`The passkey is not added (${added.status}): ${added.body}`)
  const second = openPerson(issuer)
  const asking = await second.visit(`${issuer}/account/security`)
  const shown = await second.submit(asking, signedFields(asking, { userId, authenticator, origin }))
  if (!shown.url.pathname.endsWith('/account/security'))
    throw new Error(`The passkey does not sign in (${shown.status}): ${shown.body}`)
}

function expect(outcome: string, expected: string): void {
  if (outcome !== expected) throw new Error(`The store answers ${outcome}, not ${expected}.`)
}
