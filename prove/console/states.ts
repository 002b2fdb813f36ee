import { randomBytes } from 'node:crypto'
import type { Page as Tab } from 'playwright-core'
import { createUser, updateUser } from '../../src/admin/user/user.ts'
import { asksFirst } from '../../src/console/screen.ts'
import { SCREENS } from '../../src/console/screens.ts'
import { after } from '../../src/base/brand.ts'
import { mintClientId, mintOrganizationId, mintUserId } from '../../src/protocol/ids.ts'
import { obtainTokens, redeem, registerClient, silentCodes } from '../../tools/flow.ts'
import { fillFigures } from '../../tools/figures.ts'
import type { Grantor } from '../resource-servers/grantor.ts'

/** A page of the console in one of its states. */
export interface State {
  readonly name: string
  /** Leads the tab to the page. */
  readonly show: (tab: Tab) => Promise<unknown>
}

/** From this number of rows on, a person types the number. */
const MANY = 12
const ROWS = 51

/** What a hostile client may call itself. */
const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>\u202e${'W'.repeat(60)}`

const LISTS = ['', '/clients', '/users', '/grants', '/audit']

/** The lists of a server that has just started, and those that have one row. */
export function firstStates(console: string): readonly State[] {
  return [
    ...LISTS.map((path) => at(console, `first ${path}`, path)),
    at(console, 'one row of users', '/users?email_prefix=ada@'),
  ]
}

/** The charts of the Overview: of one row, with a gap, with the numbers of all, and of longer periods. Each adds the figures that it shows. */
export function chartStates({ context: { store, clock } }: Grantor, console: string): readonly State[] {
  const filled = async (tab: Tab): Promise<void> => {
    await fillFigures(store, clock(), { span: '5m', rows: 576, isGap: (row) => row > 100 && row < 140 })
    await fillFigures(store, clock(), { span: '1h', rows: 2160, isGap: (row) => row > 60 && row < 100 })
    await tab.goto(console)
  }
  return [
    {
      name: 'one row of figures',
      async show(tab) {
        await fillFigures(store, clock(), { span: '5m', rows: 1 })
        await tab.goto(console)
      },
    },
    { name: 'figures with a gap', show: filled },
    {
      name: 'the numbers of all figures',
      show: (tab) => tab.evaluate(`for (const one of document.querySelectorAll('figure details')) one.open = true`),
    },
    at(console, 'figures of a week', '?period=7d'),
    at(console, 'figures of a quarter', '?period=90d'),
    at(console, 'a period that is wrong', '?period=1y'),
  ]
}

/** Fills the server, and returns the states of its screens. */
export async function fillStates(grantor: Grantor, console: string): Promise<readonly State[]> {
  const { context } = grantor
  const { userIds, clientIds, grantId, organizationId, hostileId } = await fill(grantor)
  const [user = '', other = ''] = userIds
  const [client = ''] = clientIds
  const now = context.clock()
  const unknown = {
    user: mintUserId(after(now, -1000), randomBytes),
    client: mintClientId(after(now, -1000), randomBytes),
  }
  const pages: readonly (readonly [name: string, path: string])[] = [
    ...LISTS.map((path) => [`50 rows ${path}`, path] as const),
    ['filtered', '/clients?trust_level=unverified&source=registration&used=false'],
    ['no client matches', '/clients?name=zzz&source=document'],
    ['no user matches', '/users?email_prefix=zzz'],
    ['no grant matches', `/grants?user_id=${unknown.user}`],
    ['no event matches', '/audit?event=code.replayed&since=2020-01-01&until=2020-01-02'],
    ['one row of clients', '/clients?name=only'],
    ['one row of grants', `/grants?user_id=${user}`],
    ['a client', `/clients/${client}`],
    ['a user', `/users/${user}`],
    ['a user without anything', `/users/${other}`],
    ['a grant', `/grants/${grantId}`],
    ['grants for an organization', `/organizations/${organizationId}/grants`],
    ['a grant for an organization', `/organizations/${organizationId}/grants/${grantId}`],
    ['a hostile client', `/clients/${hostileId}`],
    ['a hostile name in a filter', `/clients?name=${encodeURIComponent(HOSTILE)}`],
    ['no such client', `/clients/${unknown.client}`],
    ['no such page', '/nothing'],
    ['a filter that is wrong', '/grants?client_id=x'],
    ['a time that is wrong', '/audit?since=yesterday'],
  ]
  return [
    ...pages.map(([name, path]) => at(console, name, path)),
    ...confirmations({ user, client, grant: grantId, organization: organizationId, clients: clientIds }).map(
      ([name, path]) => at(console, name, path),
    ),
    {
      name: 'wrong input',
      async show(tab) {
        await tab.goto(`${console}/users?ask=user.create`)
        await tab.getByLabel('Email', { exact: true }).fill('no address')
        await tab.getByRole('button', { name: 'Create a user' }).click()
        await tab.locator('#error-email').waitFor()
      },
    },
    {
      name: 'an address that is taken',
      async show(tab) {
        await tab.goto(`${console}/users?ask=user.create`)
        await tab.getByLabel('Email', { exact: true }).fill('ada@acme.test')
        await tab.getByRole('button', { name: 'Create a user' }).click()
        await tab.getByRole('alert').waitFor()
      },
    },
    {
      name: 'done, with the way back',
      async show(tab) {
        await tab.goto(`${console}/clients/${client}`)
        await tab.getByRole('button', { name: 'Verify' }).click()
        await tab.getByRole('status').waitFor()
      },
    },
    {
      name: 'no row was chosen',
      async show(tab) {
        await tab.goto(`${console}/clients`)
        await tab.evaluate(`for (const button of document.querySelectorAll('.bar [name=task]')) button.hidden = false`)
        await tab.getByRole('button', { name: 'Verify', exact: true }).click()
        await tab.getByRole('status').waitFor()
      },
    },
    {
      name: 'rows are chosen',
      async show(tab) {
        await tab.goto(`${console}/clients`)
        for (const index of [0, 1, 2]) await tab.getByRole('checkbox').nth(index).check()
        // At the end of the page the bar of the selection covers no row.
        await tab.keyboard.press('End')
      },
    },
    {
      name: 'a secret',
      async show(tab) {
        await tab.goto(`${console}/users/${other}?ask=user.create-link`)
        await tab.getByRole('button', { name: 'Create a link' }).click()
        await tab.locator('.secret').waitFor()
      },
    },
    {
      name: 'the menu of the person',
      async show(tab) {
        await tab.goto(console)
        await tab.locator('.account summary').click()
      },
    },
    {
      name: 'the keys',
      async show(tab) {
        await tab.goto(console)
        await tab.keyboard.press('?')
        await tab.getByRole('heading', { name: 'Shortcuts' }).waitFor()
      },
    },
  ]
}

/** The screens for a person who may read, on which nothing can be changed. */
export function readOnlyStates(states: readonly State[]): readonly State[] {
  const shown = states.filter(({ name }) => /^(50 rows|a client|a user|a grant)/.test(name))
  return shown.map(({ name, show }) => ({
    name: `read-only: ${name}`,
    async show(tab) {
      await show(tab)
      const buttons = await tab.locator('main form[method=post]').count()
      if (buttons > 0) throw new Error(`A person who may read sees ${buttons} forms.`)
    },
  }))
}

export function at(console: string, name: string, path: string): State {
  return { name, show: (tab) => tab.goto(console + path) }
}

/** The page that asks, for each form that has one, and with many rows. */
function confirmations(known: {
  readonly user: string
  readonly client: string
  readonly grant: string
  readonly organization: string
  readonly clients: readonly string[]
}): readonly (readonly [name: string, path: string])[] {
  const ids: Readonly<Record<string, string>> = {
    client_id: known.client,
    user_id: known.user,
    grant_id: known.grant,
    organization_id: known.organization,
  }
  const idOf = (name: string): string => {
    const found = ids[name]
    if (found === undefined) throw new Error(`There is no ${name} for the path of a screen.`)
    return found
  }
  const single = SCREENS.flatMap((screen) =>
    screen.forms.filter(asksFirst).map((form): readonly [string, string] => {
      const path = screen.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => idOf(name)).replace('/console', '')
      const subject =
        form.subject === undefined ? '' : `&subject=${ids[form.subject] ?? '01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'}`
      return [`asks: ${screen.path} ${form.task}`, `${path}?ask=${form.task}${subject}`]
    }),
  )
  const many = known.clients.slice(0, MANY).map((id) => `&subject=${id}`)
  return [...single, [`asks for ${MANY} rows`, `/clients?ask=client.delete${many.join('')}`]]
}

async function fill(grantor: Grantor) {
  const { context } = grantor
  const clientIds: string[] = []
  const grants = { grant_types: ['authorization_code', 'refresh_token'], scope: 'projects:read builds:start' }
  for (let index = 0; index < ROWS; index += 1) {
    const made = await registerClient(grantor, { ...grants, client_name: `Build agent ${index}` })
    clientIds.push(made.client_id)
  }
  const only = await registerClient(grantor, { ...grants, client_name: 'The only one' })
  const codes = await silentCodes(grantor, only, ROWS)
  for (const code of codes) await redeem(grantor, only, code)
  const hostile = await registerClient(grantor, {
    client_name: HOSTILE,
    client_uri: 'https://evil.example/"><b>',
    redirect_uris: [`https://${'long-label.'.repeat(20)}example/cb`],
    scope: 'a'.repeat(200),
  })
  for (let index = 0; index < ROWS; index += 1)
    await createUser(context, { email: `person-${index}@acme.test`, password: undefined, name: `Person ${index}` })
  const [ada, other] = await Promise.all(
    ['ada@acme.test', 'person-7@acme.test'].map((email) => context.store.findUserByEmail(email)),
  )
  if (ada === undefined || other === undefined) throw new Error('A user is missing.')
  const hostileUser = await createUser(context, {
    email: `${'w'.repeat(60)}@${'long-label.'.repeat(4)}example`,
    password: undefined,
    name: undefined,
  })
  await updateUser(context, hostileUser.id, { name: HOSTILE, profile: {} })
  const organizationId = mintOrganizationId(context.clock(), randomBytes)
  const since = { organizationId, createdAt: context.clock(), disabledAt: undefined, notBefore: context.clock() }
  await context.store.createOrganization({ ...since, id: organizationId, name: 'Acme' })
  await context.store.addMember({ ...since, userId: ada.id })
  const cursor = await registerClient(grantor, { ...grants, client_name: 'Cursor' })
  await obtainTokens(grantor, cursor, { org_id: organizationId })
  const [grant] = await context.store.listGrants({ organizationId, before: undefined, limit: 1 })
  if (grant === undefined) throw new Error('The organization has no grant.')
  return {
    userIds: [ada.id, other.id, hostileUser.id],
    clientIds,
    grantId: grant.id,
    organizationId,
    hostileId: hostile.client_id,
  }
}
