import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { createLink, sendLink } from '../../../src/admin/user/link.ts'
import { updateProvider } from '../../../src/admin/provider/provider.ts'
import type { UserRecord } from '../../../src/ports/records/user.ts'
import type { ProviderId } from '../../../src/protocol/sign-in/authentication.ts'
import { deriveLink, linkAddress } from '../../../src/protocol/sign-in/link.ts'
import { normalizeEmail } from '../../../src/protocol/sign-in/email-address.ts'
import { identityKey } from '../../../src/protocol/sign-in/provider-identity.ts'
import { authorizeUrl, locationOf, PASSWORD, PlainBrowser, registerClient } from '../../../tools/flow.ts'
import { leadsTo, pressProvider } from '../../../tools/provider-page.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { givePasskey, madeFields, passkeyFormOf, signedFields } from '../../../tools/sign-in/passkeys.ts'
import { createAccount } from '../../support/accounts.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { addProvider, signInAt } from '../../support/provider/providers.ts'
import { openTestServer } from '../../support/server.ts'
import { appOfPage, submitTo } from '../../support/sign-in/apps.ts'
import { signedInBy } from '../../support/sign-in/sessions.ts'
import { COUNTERS } from '../../support/store/dump.ts'
import { openNodeSettings } from '../../support/store/migrated-database.ts'
import { listTables, openSession, readRows } from '../../support/store/postgres.ts'
import { formsOf } from '../account/owner.ts'

/**
 * Each page whose answer stores something or starts a session × each fact that the answer rests on: the operator changes the
 * fact while the page is open (decision 0052). A new page is a row of PAGES, a new fact one of FACTS. The copies of the node are from before
 * the change, so that the store has to refuse. On PostgreSQL: test/store/contract/user/waits.ts has the operations × the facts on both.
 */

type Page = LightMyRequestResponse
type Rows = Readonly<Record<string, unknown>>

const env = { GRANTOR_SECOND_FACTOR: 'required', GRANTOR_REDIRECT_ERRORS: 'true' }
const host = await openProviderHost(WHOLE_FILE)
const node = await openNodeSettings(WHOLE_FILE)
const server = await openTestServer(WHOLE_FILE, { env: { ...env, ...node } })
const database = await openSession(WHOLE_FILE, node['DATABASE_URL'] ?? '')
const tables = await listTables(database)

interface Person {
  readonly user: UserRecord & { readonly email: string }
  /** Where the person has an account, and the id of another one. */
  readonly provider: ProviderId
  readonly rival: ProviderId
  /** Has a role, and makes the links. */
  readonly maker: UserRecord
  readonly browser: PlainBrowser
}

let persons = 0

async function aPerson(): Promise<Person> {
  const number = (persons += 1)
  const [provider, rival] = [`idp-${number}` as ProviderId, `rival-${number}` as ProviderId]
  await addProvider(server, host, {}, { id: provider })
  const email = normalizeEmail(`ada@${domainOf(provider)}`)
  const user = await createAccount(server, { email, isVerified: true, password: PASSWORD, name: undefined })
  const maker = await createAccount(server, { email: `maker.${email}`, password: undefined, name: undefined })
  const role = { access: 'write', organizationId: undefined, isLoopbackOnly: false, setAt: maker.createdAt } as const
  assert.equal(await server.context.store.setRole({ ...role, userId: maker.id }), 'changed')
  server.clock.advance(1001)
  return { user: { ...user, email }, provider, rival, maker, browser: new PlainBrowser(server) }
}

function domainOf(provider: ProviderId): string {
  return `${provider}.example`
}

/** Gives the person an account at the provider. */
async function connect({ user, provider }: Person): Promise<void> {
  const { clock, context } = server
  const now = clock.now()
  const key = identityKey({ id: provider, issuer: host.issuer }, user.email)
  // The provider proves no address, so that each sign-in stores the same of it.
  const found = { key, userId: user.id, providerId: provider, subject: user.email, email: undefined }
  const identity = { ...found, linkedAt: now, usedAt: now }
  const reason = { kind: 'address', email: user.email } as const
  assert.equal(await context.store.linkIdentity({ identity, reason, now, mails: [] }), 'linked')
}

function claimsOf({ user }: Person) {
  return { sub: user.email, email: user.email, auth_time: Math.floor(server.clock.now() / 1000) }
}

/** What the operator, the user or another person does meanwhile. */
const FACTS = {
  'the provider is disabled': ({ provider: id }) =>
    server.context.store.disableProvider({ id, now: server.clock.now() }),
  'the provider is deleted': ({ provider: id }) => server.context.store.deleteProvider({ id, now: server.clock.now() }),
  'the address requires another provider': ({ rival: id, provider }) =>
    addProvider(server, host, { domains: [domainOf(provider)], routing: 'required' }, { id }),
  'the user is disabled': ({ user: { id } }) => server.context.store.disableUser({ id, now: server.clock.now() }),
  'the user is deleted': ({ user: { id } }) => server.context.store.deleteUser({ id }),
  'the tokens are revoked': ({ user: { id } }) =>
    server.context.store.revokeUserTokens({ id, now: server.clock.now() }),
  'the password is another': ({ user: { id } }) =>
    server.context.store.setPassword({ id, passwordHash: 'another', now: server.clock.now(), mails: [] }),
  'the second factor was reset': ({ user: { id: userId } }) =>
    server.context.store.resetSecondFactor({ userId, mails: [] }),
  'there is a second factor': ({ user }) => addApp(server, user.email),
  'the sessions ended': ({ user: { id: userId } }) =>
    server.context.store.endOtherSessions({
      userId,
      keep: undefined,
      now: server.clock.now(),
      codesSince: server.clock.now(),
    }),
  'the maker of the link has no role': ({ maker: { id: userId } }) => server.context.store.removeRole({ userId }),
  'the maker of the link is disabled': ({ maker: { id } }) =>
    server.context.store.disableUser({ id, now: server.clock.now() }),
  'the tokens of the maker are revoked': ({ maker: { id } }) =>
    server.context.store.revokeUserTokens({ id, now: server.clock.now() }),
  'there is another link': ({ user }) => createLink(server.context, user.email),
  'the client is disabled': async () => {
    const { clock, context } = server
    for (const { id } of await context.store.listClients({ before: undefined, limit: 1 }))
      await context.store.disableClient({ id, now: clock.now() })
  },
} as const satisfies Readonly<Record<string, (person: Person) => Promise<unknown>>>
type Fact = keyof typeof FACTS

const USER = [
  'the user is disabled',
  'the user is deleted',
  'the tokens are revoked',
  'the password is another',
] as const
const ROUTING = 'the address requires another provider'
const PROVIDER = ['the provider is disabled', 'the provider is deleted', ROUTING] as const

/** Shows the page, and returns what answers it. */
type Open = (person: Person) => Promise<() => Promise<Page>>

interface Waiting {
  readonly rests: readonly Fact[]
  /** Where a code or a signature is used up by its check, whatever follows. */
  readonly uses?: string
  readonly open: Open
}

const PAGES: Readonly<Record<string, Waiting>> = {
  'the callback of the provider': {
    rests: ['the user is disabled', 'the user is deleted', ...PROVIDER],
    async open(person) {
      const { browser, provider } = person
      await connect(person)
      await updateProvider(server.context, provider, { settings: { multiFactor: true }, clientSecret: undefined })
      server.clock.advance(1001)
      const left = leadsTo(await pressProvider(browser, await signInPage(browser), provider))
      return () => browser.get(host.approve(left, claimsOf(person)))
    },
  },
  'a code, after the provider': {
    rests: [...USER, ...PROVIDER, 'the second factor was reset'],
    uses: 'second_factors',
    async open(person) {
      const { browser, user } = person
      const app = await addApp(server, user.email)
      const page = await firstAtProvider(person)
      return () => submitTo(browser, page, '/sign-in/code', { code: app.code() })
    },
  },
  'a recovery code, after the provider': {
    rests: [...USER, ...PROVIDER, 'the second factor was reset'],
    uses: 'recovery_codes',
    async open(person) {
      const { browser, user } = person
      const [code = ''] = (await addApp(server, user.email)).recoveryCodes
      const page = await firstAtProvider(person)
      return () => submitTo(browser, page, '/sign-in/recovery-code', { code })
    },
  },
  'a passkey, after the provider': {
    rests: ['the user is disabled', 'the user is deleted', 'the tokens are revoked', ...PROVIDER],
    uses: 'passkeys',
    async open(person) {
      const { browser, user } = person
      const { authenticator } = await givePasskey(server, user.id)
      const page = await firstAtProvider(person)
      return () => browser.post(passkeyFormOf(page).action, signedFields(page, { userId: user.id, authenticator }))
    },
  },
  'an app that is set up, after the provider': {
    rests: [...USER, ...PROVIDER, 'there is a second factor'],
    async open(person) {
      const { browser } = person
      const page = await firstAtProvider(person)
      const app = appOfPage(server, page)
      return () => submitTo(browser, page, '/sign-in/app', { code: app.code() })
    },
  },
  'the recovery codes of that app': {
    rests: [...USER, ...PROVIDER, 'the second factor was reset'],
    async open(person) {
      const { browser } = person
      const page = await firstAtProvider(person)
      const codes = await submitTo(browser, page, '/sign-in/app', { code: appOfPage(server, page).code() })
      return () => browser.submit(codes, {})
    },
  },
  'a passkey that is set up, after the provider': {
    rests: [...USER, ...PROVIDER, 'there is a second factor'],
    async open(person) {
      const { browser } = person
      const page = await firstAtProvider(person)
      return () => browser.post(passkeyFormOf(page).action, madeFields(page, openAuthenticator()))
    },
  },
  'a code, after the password': {
    rests: [...USER, ROUTING, 'the second factor was reset'],
    uses: 'second_factors',
    async open(person) {
      const { browser, user } = person
      const app = await addApp(server, user.email)
      const page = await browser.submit(await signInPage(browser), { email: user.email, password: PASSWORD })
      return () => submitTo(browser, page, '/sign-in/code', { code: app.code() })
    },
  },
  'an app that is set up, after the password': {
    rests: [...USER, ROUTING, 'there is a second factor'],
    async open(person) {
      const { browser, user } = person
      const page = await browser.submit(await signInPage(browser), { email: user.email, password: PASSWORD })
      const app = appOfPage(server, page)
      return () => submitTo(browser, page, '/sign-in/app', { code: app.code() })
    },
  },
  'the callback that connects the provider to the account': {
    rests: [...USER, ...PROVIDER, 'the sessions ended'],
    async open(person) {
      const { user, provider } = person
      const { browser } = await signedInBy(server, user, ['fed', 'mfa'])
      const page = await browser.get('/account/security/add-provider')
      const form = formsOf(page).find(({ hidden }) => hidden['provider'] === provider)
      const left = leadsTo(await browser.post(form?.action ?? '', form?.hidden ?? {}))
      return () => browser.get(host.approve(left, claimsOf(person)))
    },
  },
  'the callback of a link': {
    rests: [
      'the user is disabled',
      'the user is deleted',
      'the tokens are revoked',
      ...PROVIDER,
      'there is another link',
      'the maker of the link has no role',
    ],
    async open(person) {
      const { browser, provider } = person
      const page = await browser.get(await linkOf(person))
      const form = formsOf(page).find(({ hidden }) => hidden['provider'] === provider)
      const left = leadsTo(await browser.post(form?.action ?? '', form?.hidden ?? {}))
      return () => browser.get(host.approve(left, claimsOf(person)))
    },
  },
  'the password of a link': {
    rests: ['the user is disabled', 'the user is deleted', 'the tokens are revoked', ROUTING, 'there is another link'],
    open: async (person) => passwordOf(person, await linkOf(person)),
  },
  'the password of a link that was mailed': {
    rests: [
      'the maker of the link has no role',
      'the maker of the link is disabled',
      'the tokens of the maker are revoked',
    ],
    open: async (person) => passwordOf(person, await mailedLinkOf(person)),
  },
  'the passkey of a link': {
    rests: [
      'the user is disabled',
      'the user is deleted',
      'the tokens are revoked',
      ROUTING,
      'there is another link',
      'the maker of the link has no role',
      'there is a second factor',
    ],
    async open(person) {
      const page = await person.browser.get(await linkOf(person))
      return () => person.browser.post(passkeyFormOf(page).action, madeFields(page, openAuthenticator()))
    },
  },
  'the consent page': {
    rests: [...USER, 'the sessions ended', 'the client is disabled'],
    async open({ user }) {
      const { browser } = await signedInBy(server, user, ['fed', 'mfa'])
      const client = await registerClient(server)
      const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
      return () => browser.submit(page, { decision: 'allow' })
    },
  },
}

async function signInPage(browser: PlainBrowser): Promise<Page> {
  return browser.get(locationOf(await browser.get('/account')))
}

/** The page of the second step. */
async function firstAtProvider(person: Person): Promise<Page> {
  const { browser, provider } = person
  await connect(person)
  const page = await signInAt({ browser, page: await signInPage(browser), host }, claimsOf(person), {}, provider)
  assert.match(page.body, /<h1>(?:Confirm with a second step|Set up two-step sign-in)<\/h1>/)
  return page
}

async function linkOf(person: Person): Promise<string> {
  return (await createLink(server.context, person.user.email, orderOf(person))).address
}

async function mailedLinkOf(person: Person): Promise<string> {
  const { context } = server
  await sendLink({ ...context, mail: {} as never }, person.user.email, orderOf(person))
  const mails = await context.store.listDueMails({ now: context.clock(), limit: 100 })
  const mail = mails.find(({ userId }) => userId === person.user.id)
  assert.ok(mail !== undefined)
  return linkAddress(context.issuer, deriveLink(context.secrets, mail).token)
}

/** Who makes a link: a person with a role. */
function orderOf({ maker: { id, createdAt, notBefore } }: Person) {
  const holder = { userId: id, roleSince: createdAt, notBefore }
  return { actor: id, holder, isLoopbackOnly: false }
}

async function passwordOf({ browser }: Person, link: string): Promise<() => Promise<Page>> {
  const page = await browser.get(link)
  const password = 'another long horse'
  return () => browser.submit(page, { password, repeated: password })
}

/** The tables that differ, without those that a refused answer may change: see COUNTERS, and when a method was used last. */
function changed(before: Rows, after: Rows): readonly string[] {
  const textOf = (rows: unknown) => JSON.stringify(rows, (name, value: unknown) => (name === 'used_at' ? 0 : value))
  const all = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return all.filter((table) => !EXEMPT.includes(table) && textOf(before[table]) !== textOf(after[table]))
}

/** A lease is renewed at any time. */
const EXEMPT: readonly string[] = [...COUNTERS, 'leases']

for (const [name, { rests, uses, open }] of Object.entries(PAGES)) {
  test(`UP-35: ${name} stores nothing once one of these has changed: ${rests.join('; ')}`, async () => {
    assert.notDeepEqual(await answerAfter(undefined), [], 'nothing has changed')
    const faults: string[] = []
    for (const fact of rests) {
      const stored = (await answerAfter(fact)).filter((table) => table !== uses)
      faults.push(...stored.map((table) => `${fact}: ${table}`))
    }
    assert.deepEqual(faults, [])
  })

  /** Changes the fact while the page is open. Returns what the answer changes. */
  const answerAfter = async (fact: Fact | undefined): Promise<readonly string[]> => {
    const person = await aPerson()
    const answer = await open(person)
    server.clock.advance(1)
    if (fact !== undefined) await FACTS[fact](person)
    const before = await readRows(database, tables)
    const { cookies, statusCode } = await answer()
    const stored = changed(before, await readRows(database, tables))
    const { store } = server.context
    for (const id of [person.provider, person.rival]) await store.deleteProvider({ id, now: server.clock.now() })
    for (const { id } of [person.user, person.maker]) await store.deleteUser({ id })
    const isSignedIn = cookies.some((cookie) => cookie.name.includes('session'))
    return [...stored, isSignedIn ? 'a cookie' : [], statusCode >= 500 ? 'a fault' : []].flat()
  }
}
