import assert from 'node:assert/strict'
import { test } from 'node:test'
import { provisionSubject } from '../../src/admin/user/subject.ts'
import { findRequiredProvider } from '../../src/users/provider-routing.ts'
import { PASSWORD } from '../../tools/flow.ts'
import { createAccount } from '../support/accounts.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { openTestServer } from '../support/server.ts'
import { openOwner } from '../endpoints/account/owner.ts'
import { perform } from '../support/tasks.ts'
import { importFile, outcomesOf, writeInput } from '../import/importing.ts'

/** One account, whose address each place is given in each spelling. */

const server = await openTestServer(WHOLE_FILE)
const { context } = server
const STORED = 'anna@xn--bcher-kva.example'
const anna = await createAccount(server, {
  email: 'anna@bücher.example',
  isVerified: true,
  password: PASSWORD,
  name: 'Anna',
})
const { organization_id: organization } = await perform(context, 'organization.create', { name: 'Acme' })
await perform(context, 'member.add', { organization_id: organization, user_id: anna.id })

const SPELLINGS: Readonly<Record<string, string>> = {
  Unicode: 'anna@bücher.example',
  'A-label': STORED,
  'upper case': 'ANNA@BÜCHER.EXAMPLE',
  'A-label in upper case': 'Anna@XN--BCHER-KVA.Example',
  'dot of the root': 'anna@bücher.example.',
  decomposed: 'anna@bu\u0308cher.example',
}

/** What becomes of an address in a place. `true`: it was taken for that of the account. */
const PLACES: Readonly<Record<string, (email: string) => Promise<unknown>>> = {
  'the sign-in page': async (email) => (await openOwner(server, email).open('/account')).statusCode === 200,
  'user.list by address': async (email) => idsOf(await perform(context, 'user.list', { email }), 'users'),
  'user.list by start': async (email) =>
    idsOf(await perform(context, 'user.list', { email_prefix: email.replace(/le\.?$/i, '') }), 'users'),
  'member.list': async (email) =>
    idsOf(await perform(context, 'member.list', { organization_id: organization, email }), 'members'),
  'member.add': (email) => conflicts('member.add', { organization_id: organization, email }),
  'user.create': (email) => conflicts('user.create', { email }),
  'user.set-email': async (email) => {
    const { user_id: other } = await perform(context, 'user.create', { email: 'other@acme.test' })
    const isTaken = await conflicts('user.set-email', { user_id: other, email, verified: false })
    await perform(context, 'user.delete', { user_id: other })
    return isTaken
  },
  'a subject of the application': async (email) => {
    const said = { subject: email, email, isEmailVerified: true, name: undefined, groups: undefined }
    await provisionSubject(context, said)
    // DEL-11: an address that another account has is not used.
    return (await context.store.findUserByEmail(STORED))?.id === anna.id
  },
}

for (const [place, isAnna] of Object.entries(PLACES))
  for (const [spelling, email] of Object.entries(SPELLINGS))
    test(`UI-21: ${place} takes an address for one account: ${spelling}`, async () =>
      assert.equal(await isAnna(email), true))

for (const [spelling, email] of Object.entries(SPELLINGS))
  test(`UI-21: an import stores an address in one spelling, and finds that it is taken: ${spelling}`, async (t) => {
    const line = (id: string, text: string) => JSON.stringify({ type: 'user', id, email: text, email_verified: true })
    const own = email.replace(/anna/i, spelling.replaceAll(' ', '-'))
    const file = writeInput(t, [line(`taken ${spelling}`, email), line(`new ${spelling}`, own)].join('\n'))
    assert.deepEqual(outcomesOf(await importFile(t, server, file, {})), [
      'refused email_taken',
      'created id_replaced needs_link',
    ])
    const user = await context.store.findUserByEmail(own)
    assert.equal(user?.email, `${spelling.replaceAll(' ', '-').toLowerCase()}@xn--bcher-kva.example`)
  })

test('UI-21: a provider has its domains in ASCII, in whichever spelling the operator gives them', async () => {
  const made = await perform(context, 'provider.create', {
    provider_id: 'buecher',
    template: 'oidc',
    name: 'Bücher',
    issuer: 'https://idp.example',
    client_id: 'grantor',
    client_secret: 'a-secret-of-the-provider',
    domains: ['Bücher.Example'],
    routing: 'required',
  })
  assert.deepEqual(made['domains'], ['xn--bcher-kva.example'])
  for (const email of Object.values(SPELLINGS))
    assert.equal(findRequiredProvider(await context.store.listProviders(), email)?.id, 'buecher')
  await perform(context, 'provider.delete', { provider_id: 'buecher' })
})

function idsOf(answer: Readonly<Record<string, unknown>>, rows: string): boolean {
  const found = answer[rows] as readonly { readonly user_id: string; readonly email: string }[]
  return found.length === 1 && found[0]?.user_id === anna.id && found[0].email === STORED
}

async function conflicts(task: string, input: Readonly<Record<string, unknown>>): Promise<boolean> {
  return perform(context, task, input).then(
    () => false,
    (cause: unknown) => (cause as { readonly kind?: unknown }).kind === 'conflict',
  )
}
