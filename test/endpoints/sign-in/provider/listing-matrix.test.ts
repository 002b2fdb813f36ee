import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LISTINGS } from '../../../../src/protocol/sign-in/provider.ts'
import type { OrganizationId } from '../../../../src/protocol/ids.ts'
import { createLink } from '../../../../src/admin/user/link.ts'
import { authorizeUrl, locationOf, PASSWORD, PlainBrowser, registerClient } from '../../../../tools/flow.ts'
import { leadsTo } from '../../../../tools/provider-page.ts'
import { createAccount } from '../../../support/accounts.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { openProviderHost, type ProviderHost } from '../../../support/provider/provider-host.ts'
import { addProvider, ADA_CLAIMS } from '../../../support/provider/providers.ts'
import { openTestServer, type TestServer } from '../../../support/server.ts'
import { openMigratedDatabase } from '../../../support/store/migrated-database.ts'
import { perform } from '../../../support/tasks.ts'
import { formsOf, openOwner } from '../../account/owner.ts'

/** A provider for each setting, with and without a domain, and with and without an organization. */
const PROVIDERS = LISTINGS.flatMap((listing) =>
  [false, true].flatMap((hasDomain) =>
    [false, true].map((hasOrganization) => {
      const id = `${listing}${hasDomain ? '-domain' : ''}${hasOrganization ? '-org' : ''}`
      const isListed = listing === 'auto' ? !hasDomain && !hasOrganization : listing === 'shown'
      return { id, listing, hasDomain, hasOrganization, isListed, domain: `${id}.test` }
    }),
  ),
)
type Row = (typeof PROVIDERS)[number]

const LISTED = PROVIDERS.filter(({ isListed }) => isListed).map(({ id }) => id)
/** What a person sees who is known to belong to one provider. */
const expected = (own: string | undefined): readonly string[] =>
  [...new Set([...(own === undefined ? [] : [own]), ...LISTED])].toSorted()

/** Where providers are shown, and of which of them the person there is known. */
const PLACES: Readonly<Record<string, (stage: Stage, row: Row) => Promise<string>>> = {
  'the sign-in page, with the login_hint': async ({ arrive }, { domain }) => arrive({ login_hint: `eve@${domain}` }),
  'the sign-in page, with the org_id': async ({ arrive, organizations }, { id }) =>
    arrive({ org_id: organizations.get(id) ?? 'none' }),
  'the sign-in page, after the address was typed': async ({ type }, { domain }) => type(`eve@${domain}`),
  'the page of an invitation': async ({ server, member }, row) => {
    const { address } = await createLink(server.context, await member(row, 'invited'))
    return (await new PlainBrowser(server).get(address)).body
  },
  'the page that adds a provider to an account': async ({ server, member }, row) =>
    (await openOwner(server, await member(row, 'owner', PASSWORD)).open('/account/security/add-provider')).body,
}

interface Stage {
  readonly host: ProviderHost
  readonly server: TestServer
  readonly organizations: ReadonlyMap<string, string>
  /** A new browser at the sign-in page. */
  readonly open: () => Promise<{
    readonly browser: PlainBrowser
    readonly page: Awaited<ReturnType<PlainBrowser['get']>>
  }>
  /** The sign-in page for a request with these parameters. */
  readonly arrive: (parameters?: Readonly<Record<string, string>>) => Promise<string>
  /** The page after an address was typed. */
  readonly type: (email: string) => Promise<string>
  /** The address of a new user, who is a member of the organization of the provider, or has an address of its domain. */
  readonly member: (row: Row, who: string, password?: string) => Promise<string>
}

async function openStage(env: Readonly<Record<string, string>>): Promise<Stage> {
  const host = await openProviderHost(WHOLE_FILE)
  const server = await openTestServer(WHOLE_FILE, { env })
  const { context } = server
  const organizations = new Map<string, string>()
  for (const { id, listing, hasDomain, hasOrganization, domain } of PROVIDERS) {
    const made = hasOrganization ? await perform(context, 'organization.create', { name: id }) : undefined
    const organizationId = made?.['organization_id'] as OrganizationId | undefined
    if (organizationId !== undefined) organizations.set(id, organizationId)
    const domains = hasDomain ? [domain] : []
    const membership = hasOrganization && !hasDomain ? 'anybody' : 'domains'
    await addProvider(server, host, { listing, domains, organizationId, membership }, { id, name: id })
    server.clock.advance(1)
  }
  server.clock.advance(1001)
  const client = await registerClient(server)
  const open = async (parameters: Readonly<Record<string, string>> = {}) => {
    const browser = new PlainBrowser(server)
    return { browser, page: await browser.get(locationOf(await browser.get(authorizeUrl(client, parameters)))) }
  }
  return {
    host,
    server,
    organizations,
    open,
    arrive: async (parameters) => (await open(parameters)).page.body,
    async type(email) {
      const { browser, page } = await open()
      const form = formsOf(page).find(({ names }) => names.has('email'))
      return (await browser.post(form?.action ?? '', { ...form?.hidden, email })).body
    },
    async member({ id, hasDomain, domain }, who, password) {
      const email = `${who}-${id}@${hasDomain ? domain : 'elsewhere.test'}`
      const user = await createAccount(server, { email, password, name: undefined })
      const organization = organizations.get(id)
      if (organization !== undefined)
        await perform(context, 'member.add', { organization_id: organization, user_id: user.id })
      return email
    },
  }
}

/** The ids of the providers that a page has a button for. */
function buttonsOf(page: string): readonly string[] {
  return [...page.matchAll(/name="provider" value="([^"]+)"/g)].map(([, id]) => String(id)).toSorted()
}

/** What a person reads on a page, without the reference of an error. */
function textOf(page: string): string {
  return page.replaceAll(/<(style|script)[^]*?<\/\1>|<[^>]*>|reference: \S+/g, ' ').replaceAll(/\s+/g, ' ')
}

const STORES = {
  sqlite: async () => ({}),
  postgres: async () => ({ DATABASE_URL: await openMigratedDatabase(WHOLE_FILE), GRANTOR_SECRET: 'l'.repeat(43) }),
}

for (const [store, settings] of Object.entries(STORES)) {
  const stage = await openStage(await settings())

  test(`UP-33, ${store}: a visitor sees the listed providers alone, and the address first`, async () => {
    const page = await stage.arrive()
    assert.deepEqual(buttonsOf(page), expected(undefined))
    assert.ok(page.includes('inputmode="email"') && !page.includes('type="password"'))
  })

  for (const [place, show] of Object.entries(PLACES)) {
    test(`UP-33, ${store}: ${place} shows the listed providers, and of the others only the person’s own`, async () => {
      for (const row of PROVIDERS) {
        const { id, hasDomain, hasOrganization } = row
        const isKnown = place.includes('org_id')
          ? hasOrganization
          : hasDomain || (hasOrganization && !place.includes('sign-in'))
        if (place.includes('org_id') && !hasOrganization) continue
        assert.deepEqual(buttonsOf(await show(stage, row)), expected(isKnown ? id : undefined), id)
      }
    })
  }

  test(`UP-33, ${store}: an unknown address of a domain gets the page of a known one`, async () => {
    const known = await stage.member(PROVIDERS.find(({ id }) => id === 'auto-domain') as Row, 'known', PASSWORD)
    const unknown = known.replace('known', 'other')
    const strip = (page: string, email: string) =>
      page.replaceAll(email, '').replaceAll(/value="[^"]{20,}"|challenge&quot;:&quot;[^&]*|\?authorization=[^&]*/g, '')
    assert.equal(strip(await stage.type(known), known), strip(await stage.type(unknown), unknown))
  })

  test(`UP-33, ${store}: a form and a callback say nothing of the providers that the page did not show`, async () => {
    const { host, open } = stage
    const { browser, page } = await open()
    const shown = formsOf(page).find(({ hidden }) => hidden['provider'] === LISTED[0])
    const answers = async (id: string) => {
      const form = await browser.post(shown?.action ?? '', { ...shown?.hidden, provider: id })
      const callback = await browser.get(`/v2/oauth/callback/${id}?state=a.b&code=c`)
      return [form, callback].map(({ statusCode, body }) => [statusCode, textOf(body)])
    }
    const unknown = await answers('no-such-provider')
    for (const { id } of PROVIDERS.filter((one) => one.id !== LISTED[0]))
      assert.deepEqual(await answers(id), unknown, id)
    assert.ok(leadsTo(await browser.post(shown?.action ?? '', shown?.hidden ?? {})).startsWith(host.issuer))
  })

  test(`${store}: a provider is listed as its answer says`, async () => {
    for (const { id, listing, isListed } of PROVIDERS) {
      const shown = await perform(stage.server.context, 'provider.show', { provider_id: id })
      assert.deepEqual([shown['listing'], shown['listed']], [listing, isListed], id)
    }
  })
}

/** The only provider of a server without passwords. */
for (const listing of LISTINGS) {
  test(`without passwords the only provider with a domain, listing ${listing}, ${listing === 'hidden' ? 'is found by the address' : 'is the sign-in'}`, async (t) => {
    const host = await openProviderHost(t)
    const server = await openTestServer(t, { env: { GRANTOR_PASSWORDS: 'off' } })
    await addProvider(server, host, { listing, domains: ['acme.test'] })
    const client = await registerClient(server)
    const browser = new PlainBrowser(server)
    const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
    if (listing !== 'hidden') return assert.ok(locationOf(page).startsWith(host.issuer))
    assert.deepEqual(buttonsOf(page.body), [])
    const form = formsOf(page).find(({ names }) => names.has('email'))
    const post = (email: string) => browser.post(form?.action ?? '', { ...form?.hidden, email })
    const other = await post('eve@elsewhere.test')
    assert.equal(other.statusCode, 403)
    assert.match(other.body, /aria-describedby="problem"[^]*There is no sign-in for this address/)
    const left = leadsTo(await post('Ada@acme.test'))
    assert.ok(left.startsWith(host.issuer))
    // A person who cancelled there still finds the way.
    const callback = { code: null, error: 'access_denied' }
    const cancelled = await browser.get(host.approve(left, ADA_CLAIMS, { callback }))
    assert.deepEqual(buttonsOf(cancelled.body), ['idp'])
  })
}
