import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { normalizeEmail, type EmailAddress } from '../../../src/protocol/sign-in/email-address.ts'
import { coversAll } from '../../../src/endpoints/sign-in/changing-session.ts'
import type { UserRecord } from '../../../src/ports/records/user.ts'
import { PASSWORD } from '../../../tools/flow.ts'
import { leadsTo } from '../../../tools/provider-page.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { createAccount } from '../accounts.ts'
import type { ProviderHost } from '../provider/provider-host.ts'
import type { TestServer } from '../server.ts'
import { aPasskey } from './factor-records.ts'
import { signedInBy } from './sessions.ts'

/** A second factor. `strong`: an account at the provider `strong`, which always asks for two factors. */
export type Factor = 'app' | 'passkey' | 'strong'

export interface Person extends UserRecord {
  readonly email: EmailAddress
}

/** A user with a password and these second factors. */
export async function aPerson(server: TestServer, host: ProviderHost, factors: readonly Factor[]): Promise<Person> {
  const { clock, context } = server
  const email = normalizeEmail(`${randomUUID()}@acme.test`)
  const user = await createAccount(server, { email, isVerified: true, password: PASSWORD, name: undefined })
  const { browser, session } = await signedInBy(server, user, ['pop', 'mfa'])
  if (factors.includes('strong')) {
    const csrf = /name="csrf" value="([^"]+)"/.exec((await browser.get('/account')).body)?.[1] ?? ''
    const left = await browser.post('/account/security/add-provider', { csrf, provider: 'strong' })
    await browser.get(host.approve(leadsTo(left), { sub: email, auth_time: Math.floor(clock.now() / 1000) }))
    assert.equal((await context.store.listIdentities(user.id)).length, 1)
  }
  const reason = { kind: 'session', session: coversAll(session) } as const
  if (factors.includes('passkey'))
    await context.store.addPasskey({ passkey: aPasskey({ userId: user.id }), reason, mails: [] })
  if (factors.includes('app')) await addApp(server, email)
  clock.advance(1)
  return { ...user, email }
}
